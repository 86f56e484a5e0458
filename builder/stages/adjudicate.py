"""Second labels: a random part of each predicted stratum is read again by a model, and the answer checked by our rules."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from builder.core.completion import Complete, Reply, Request
from builder.core.hashing import rank
from builder.core.records import Dropped, FollowUp, Transcript
from builder.core.settings import AdjudicateSettings
from builder.core.taxonomy import LONG_RANGE
from builder.text.prompting import Prompt, returned_message, user_message
from builder.text.second_label import ANSWER_SCHEMA, Answer, answer_problems, labels_from, read_answer

BREAKS_RULES = "the answer breaks the taxonomy's rules"
CHUNK = 1000
"""Follow-ups whose questions are held in memory at a time."""


@dataclass(frozen=True, slots=True)
class _Open:
    """A follow-up that waits for an answer: its next question, and which second chances are used up."""

    follow_up: FollowUp
    request: Request
    retried: bool = False
    returned: bool = False


def choose_for_second_labels(
    follow_ups: Iterable[FollowUp], settings: AdjudicateSettings, seed: int
) -> tuple[FollowUp, ...]:
    """`per_stratum` follow-ups of each predicted stratum, by rank: a random part of it (all, where there are fewer).

    Follow-ups that people labelled and synthetic ones need no second label.
    """
    strata: defaultdict[str, list[FollowUp]] = defaultdict(list)
    for follow_up in follow_ups:
        if follow_up.origin == "sampled" and follow_up.labelled_by != "human":
            strata[follow_up.reference_type].append(follow_up)
    chosen = [
        follow_up
        for group in strata.values()
        for follow_up in sorted(group, key=lambda f: rank(seed, "second label", f.id))[: settings.per_stratum]
    ]
    return tuple(sorted(chosen, key=lambda f: f.id))


def choose_for_agreement(
    chosen: Sequence[FollowUp], settings: AdjudicateSettings, seed: int
) -> tuple[FollowUp, ...]:
    """The random part of the chosen follow-ups that the model reads twice."""
    ordered = sorted(chosen, key=lambda f: rank(seed, "second sample", f.id))
    part = ordered[: round(len(ordered) * settings.agreement_share)]
    return tuple(sorted(part, key=lambda f: f.id))


def request_for(follow_up: FollowUp, transcript: Transcript, prompt: Prompt, sample: int = 0) -> Request:
    """What is sent to the model about one follow-up, to the letter."""
    message = user_message(transcript, follow_up.turn)
    return Request(follow_up.id, prompt.system, message, ANSWER_SCHEMA, prompt.version, sample)


def adjudicate_follow_ups(
    follow_ups: Iterable[FollowUp],
    transcripts: Mapping[str, Transcript],
    complete: Complete,
    prompt: Prompt,
    long_range: int = LONG_RANGE,
    sample: int = 0,
) -> Iterator[FollowUp | Dropped]:
    """Each follow-up with the model's labels (labelled_by "llm"), or Dropped where the model abstained, and why.

    A refused, cut-off, malformed or off-schema answer is asked for once more. An answer that contradicts the
    taxonomy's rules (a term that is not in the transcript, a query without its required term) goes back once with the
    problems named. What is still wrong then is an abstention: no label is guessed.

    Args:
        follow_ups: Follow-ups to read again.
        transcripts: Their conversations, by id.
        complete: Asks the model; answers stand in the order of the questions.
        prompt: The rendered prompt.
        long_range: Distance from which a reference is long-range.
        sample: Number of the sample; a second reading by the same model is sample 1.
    """
    waiting = list(follow_ups)
    for start in range(0, len(waiting), CHUNK):
        part = waiting[start : start + CHUNK]
        settled: dict[str, FollowUp | Dropped] = {}
        pending = [_Open(f, request_for(f, transcripts[f.conversation_id], prompt, sample)) for f in part]
        while pending:
            replies = complete([each.request for each in pending])
            again = []
            for each, reply in zip(pending, replies, strict=True):
                result = _judge(each, reply, transcripts[each.follow_up.conversation_id], long_range)
                if isinstance(result, _Open):
                    again.append(result)
                else:
                    settled[each.follow_up.id] = result
            pending = again
        yield from (settled[follow_up.id] for follow_up in part)


def _judge(each: _Open, reply: Reply, transcript: Transcript, long_range: int) -> FollowUp | Dropped | _Open:
    """The label that a reply gives, the abstention it amounts to, or the question to ask next."""
    answer = read_answer(reply.text) if not reply.fault else (reply.fault, reply.detail)
    if not isinstance(answer, Answer):
        reason, detail = answer
        if each.retried:
            return Dropped(each.follow_up.id, "adjudicate", reason, detail)
        request = replace(each.request, attempt=each.request.attempt + 1)
        return replace(each, request=request, retried=True)
    labelled = labels_from(answer, each.follow_up, transcript, long_range)
    problems = answer_problems(answer, labelled, transcript)
    if not problems:
        return labelled
    if each.returned:
        return Dropped(each.follow_up.id, "adjudicate", BREAKS_RULES, "; ".join(problems))
    message = returned_message(user_message(transcript, each.follow_up.turn), reply.text, problems)
    return replace(each, request=replace(each.request, user=message, attempt=0), returned=True)
