"""How exports look: each format turned into the canonical shape {conversation_id, messages: [{role, content, ...}]}."""
