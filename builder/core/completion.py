"""A question to a language model and what came back: the words that stages and the network share."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

REFUSED = "the model refused"
TRUNCATED = "the answer was cut off"
NO_ANSWER = "the server gave no answer"


@dataclass(frozen=True, slots=True)
class Request:
    """One question: what is sent, and what tells it from the same question asked again.

    Attributes:
        name: What it is about, for messages to people; no part of the question.
        system: Instructions.
        user: The material, quoted.
        schema: JSON Schema of the answer, and its name under "title".
        prompt_version: Name and version of the prompt file.
        sample: Number of the sample; a second opinion of the same model is sample 1.
        attempt: 0, or the number of times that an unusable answer has been asked for again.
    """

    name: str
    system: str
    user: str
    schema: Mapping[str, Any]
    prompt_version: str
    sample: int = 0
    attempt: int = 0


@dataclass(frozen=True, slots=True)
class Reply:
    """What came back.

    Attributes:
        text: The answer; "" when there is none.
        fault: Why there is none: REFUSED, TRUNCATED or NO_ANSWER; "" when there is one.
        detail: What the server said about the fault.
        input_tokens: Tokens that the server counted in the question.
        output_tokens: Tokens that it counted in the answer.
    """

    text: str
    fault: str = ""
    detail: str = ""
    input_tokens: int = 0
    output_tokens: int = 0


Complete = Callable[[Sequence[Request]], Sequence[Reply]]
"""Asks all questions; replies stand in the order of the questions."""
