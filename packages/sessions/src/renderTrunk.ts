import { z } from 'zod'
import { isAgentDefinition, type AgentDefinition } from '../../../src/actors/define/agentDefinition.ts'
import { TurnFrames } from '../../../src/actors/turn/turnFrames.ts'
import { planAskedFold } from '../../../src/conversation/brakes/fold/planFold.ts'
import { planShow } from '../../../src/conversation/brakes/prune/planShow.ts'
import { applyPrune } from '../../../src/conversation/brakes/prune/planPrune.ts'
import { RequestAssembler } from '../../../src/conversation/request/assembleRequest.ts'
import type { Conversation } from '../../../src/conversation/tree/conversation.ts'
import { rebuildConversation } from '../../../src/conversation/tree/rebuildConversation.ts'
import type { PruneOutcome } from '../../../src/protocol/braking.ts'
import { onlyFields } from '../../../src/protocol/checks/onlyFields.ts'
import { checkedBy, RuntimeError } from '../../../src/protocol/errors.ts'
import { lazily } from '../../../src/protocol/lazily.ts'
import type { ModelRequest } from '../../../src/protocol/ports/model.ts'
import type { Provenance } from '../../../src/protocol/provenance.ts'
import type { LogRecord, RecordOf } from '../../../src/protocol/records.ts'

export interface RenderOptions {
  /** Index of the turn whose request is rendered. Default: the request that would come next. */
  readonly turn?: number
  /** Steps to hide in addition, as `agent.prune` would. */
  readonly hide?: readonly string[]
  /** Text shown in place of the hidden steps. */
  readonly memo?: string
  /** Steps whose results are masked in addition. */
  readonly mask?: readonly string[]
  /** Hidden and masked steps to show again, even if they exceed the room for them. */
  readonly show?: readonly string[]
  /** True to fold every step that may be folded, as `agent.fold` would, by `braking.fold` of the definition. */
  readonly fold?: boolean
  /** Records of the past that a fork shares. */
  readonly past?: Iterable<LogRecord>
}

/** A request as rendered from a definition. */
export interface RenderedTrunk {
  readonly request: ModelRequest
  /** One entry for each message. */
  readonly provenance: readonly Provenance[]
  /** Outcomes of the requested changes, in order. */
  readonly applied: readonly PruneOutcome[]
}

const steps = () => z.array(z.string()).min(1)

const optionsSchema = lazily(() =>
  onlyFields({
    turn: z.int().nonnegative(),
    hide: steps(),
    memo: z.string(),
    mask: steps(),
    show: steps(),
    fold: z.boolean(),
    past: z.custom<Iterable<LogRecord>>((value) => typeof value === 'object' && value !== null),
  }).partial(),
)

/**
 * Renders the request of a turn from a log, as agents of the definition would send it, with its instructions, tools and brakes; for the definition
 * that wrote the log, byte for byte as it was sent. `hide`, `mask`, `show` and `fold` say what it would be after such a change, which is not made. Tools of
 * sources are those that the definition has; `redact` of a runtime is not applied to instructions. Pure.
 *
 * @throws RuntimeError `INVALID_DEFINITION`; `INVALID_OPTION`: a turn that the log does not have, or a change that may not be made, with the reason.
 *
 * @example
 * ```ts
 * import { loadSession, renderTrunk } from 'escapement/sessions'
 *
 * const { records } = await loadSession(store, 'coder-x7')
 * const now = renderTrunk(records, coder)
 * const first = renderTrunk(records, coder, { turn: 0 })
 * console.log(first.request.messages.length, now.request.messages.length)
 * ```
 */
export function renderTrunk(
  records: Iterable<LogRecord>,
  definition: AgentDefinition,
  options: RenderOptions = {},
): RenderedTrunk {
  if (!isAgentDefinition(definition))
    throw new RuntimeError('INVALID_DEFINITION', 'renderTrunk takes the records, then what defineAgent returns.')
  checkedBy(optionsSchema(), options, 'renderTrunk')
  const { turn, past = [] } = options
  const own = turn === undefined ? [...records] : untilRequest([...records], turn)
  const conversation = rebuildConversation(own, { counter: definition.counter, past })
  const frames = new TurnFrames({ definition }, { lent: undefined })
  for (const record of [...past, ...own]) frames.apply(record)
  const { system, toolSpecs, settings, frameTokens, note } = frames.current
  const applied = changesIn(options).map((change) => changed(conversation, definition.braking, frameTokens, change))
  const { braking } = definition
  const frame = {
    system,
    tools: toolSpecs,
    settings,
    ...(braking === null ? {} : { braking: braking.tags, withoutIds: !braking.showsIds }),
  }
  const { request, provenance } = new RequestAssembler(conversation, frame).assemble(turn ?? nextTurn(own), note)
  return { request, provenance, applied }
}

const nextTurn = (records: readonly LogRecord[]): number =>
  (records.findLast((record) => record.type === 'turn.start')?.turnIndex ?? -1) + 1

/** Returns the records up to the first request of a turn. */
function untilRequest(records: readonly LogRecord[], turn: number): readonly LogRecord[] {
  const start = records.findIndex((record) => record.type === 'turn.start' && record.turnIndex === turn)
  if (start < 0) {
    const turns = records.flatMap((record) => (record.type === 'turn.start' ? [record.turnIndex] : []))
    const there = turns.length === 0 ? 'no turn' : `turns ${turns[0]} to ${turns.at(-1)}`
    throw new RuntimeError('INVALID_OPTION', `renderTrunk: turn: there is no turn ${turn}: the log has ${there}.`)
  }
  const sent = new Set(['turn.captured', 'reply.end', 'reply.reset', 'turn.end'])
  const end = records.findIndex((record, index) => index > start && sent.has(record.type))
  return records.slice(0, end < 0 ? records.length : end)
}

type Change =
  | { readonly steps: readonly string[]; readonly memo?: string; readonly mask?: true }
  | { readonly steps: readonly string[]; readonly show: true }
  | { readonly fold: true }

const changesIn = ({ hide, memo, mask, show, fold }: RenderOptions): readonly Change[] => [
  ...(hide === undefined ? [] : [{ steps: hide, ...(memo === undefined ? {} : { memo }) }]),
  ...(mask === undefined ? [] : [{ steps: mask, mask: true } as const]),
  ...(show === undefined ? [] : [{ steps: show, show: true } as const]),
  ...(fold === true ? [{ fold } as const] : []),
]

/** Makes a change of the conversation, which is a copy. */
function changed(
  conversation: Conversation,
  braking: AgentDefinition['braking'],
  frameTokens: number,
  change: Change,
): PruneOutcome {
  const request = { id: 'render', by: 'person', ...change } as const
  const refuse = (why: string): never => {
    throw new RuntimeError('INVALID_OPTION', `renderTrunk: ${why}.`)
  }
  const plan = !('fold' in change)
    ? undefined
    : braking?.fold == null
      ? 'fold refused: folding is off'
      : planAskedFold(conversation, braking.fold, frameTokens, request, new Set())
  if (typeof plan === 'string') return refuse(plan)
  const outcome =
    'show' in change
      ? planShow(conversation, { id: 'render', steps: change.steps }, new Set(), Infinity).outcome
      : (plan?.outcome ?? applyPrune(conversation, request))
  if (!outcome.applied) return refuse(outcome.reason!)
  const record = {
    v: 3,
    seq: conversation.lastSeq + 1,
    time: 0,
    runId: '',
    turnIndex: 0,
    type: 'prune.applied',
    ...outcome,
  }
  conversation.apply(record as RecordOf<'prune.applied'>)
  return outcome
}
