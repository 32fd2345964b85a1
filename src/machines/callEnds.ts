import { effectsIn, isWithoutEffects, type CallEffects } from '../protocol/callEffects.ts'
import type { ToolResultMessage, PlainBlock, SyntheticReason } from '../protocol/messages.ts'
import { innerEffects } from '../protocol/parts/inner/innerState.ts'
import { recordVersion as v, type RecordOf } from '../protocol/records.ts'
import type { CallState } from './agentTypes.ts'
import { room, type Draft } from './draft.ts'
import { hookSlot, isChecking } from './hooks.ts'
import { callSlot } from './callFacts.ts'
import { takeOver } from './handoffs.ts'
import { deliverReports } from './reports.ts'
import { denialText } from '../protocol/text/denial.ts'

/** Statuses in which a call has done something, or may have. */
const begun: ReadonlySet<CallState['status']> = new Set([
  'running',
  'asking',
  'asked',
  'requested',
  'sleeping',
  'paused',
])

/** Answers a call on behalf of the runtime. */
export function synthesize(
  draft: Draft,
  index: number,
  synthetic: ExplainedReason,
  why?: string,
  { printed, ...more }: Pick<CallResult, 'spent' | 'returned' | 'receipt'> & { readonly printed?: string } = {},
): void {
  const { status, callId } = draft.callAt(index)
  if (status === 'checking') draft.children.push({ type: 'stop', id: hookSlot(index) })
  const made = draft.context.parts.inner?.[callId]
  const calls = made === undefined ? '' : ` It had made ${innerEffects(made).calls}.`
  const text = explanations[synthetic](begun.has(status), why) + calls + (printed ?? '')
  endCall(draft, index, {
    content: [{ type: 'text', text }],
    isError: true,
    synthetic,
    ...more,
  })
}

type CallResult = CallEffects &
  Pick<ToolResultMessage, 'content' | 'isError' | 'synthetic' | 'hasLesson' | 'ofRuntime'> &
  Pick<
    RecordOf<'tool.end'>,
    'data' | 'dataApart' | 'endsRun' | 'value' | 'answer' | 'spent' | 'returned' | 'hook' | 'delivers' | 'handoff'
  >

/** Gives a call its result. */
export function endCall(draft: Draft, index: number, result: CallResult): void {
  const { calls } = draft.context
  recordEnd(draft, draft.callAt(index), result)
  if (draft.context.calls.length === 0) endStep(draft, calls)
  if (result.delivers !== undefined) deliverReports(draft, result.delivers)
}

/** Answers a call that is not run, and gives the model the reason. `by`: set if the hook refused it. */
export const refuseCall = (draft: Draft, index: number, text: string, by?: Pick<CallResult, 'hook'>): void =>
  endCall(draft, index, { content: [{ type: 'text', text }], isError: true, synthetic: 'refused', ...by })

/** Ends a step that has all its results: stops the runners and moves the head to the last result. */
function endStep(draft: Draft, calls: readonly CallState[]): void {
  // Those that have ended are released together: one at a time would copy the others each time.
  const hasHook = isChecking(draft.context)
  for (const index of calls.keys()) {
    draft.children.push({ type: 'stop', id: callSlot(index) })
    if (hasHook) draft.children.push({ type: 'stop', id: hookSlot(index) })
  }
  draft.set({ head: calls.at(-1)!.nodeId })
  takeOver(draft)
}

/** Returns the effects of a call together with the effects of its inner calls. */
const withInner = (own: CallEffects, { changed, receipt }: ReturnType<typeof innerEffects>): CallEffects => ({
  ...own,
  changed: [...new Set([...(own.changed ?? []), ...changed])],
  ...(receipt === undefined ? {} : { receipt: { data: receipt } }),
})

/** Records the end of a call. */
function recordEnd(draft: Draft, call: CallState, result: CallResult): void {
  const { callId, key, name, nodeId, via } = call
  const content =
    call.edited === 'person' && begun.has(call.status) ? [editNote(call), ...result.content] : result.content
  const {
    isError,
    synthetic,
    hasLesson,
    ofRuntime,
    data,
    dataApart,
    endsRun = isError && draft.context.policy.endsRun?.includes(name) === true ? false : undefined,
    value,
    answer,
    spent,
    returned = call.returned,
    hook,
    delivers,
    handoff,
  } = result
  const made = draft.context.parts.inner?.[callId]
  const inner = made === undefined ? undefined : innerEffects(made)
  const { runId, turnIndex } = draft.at
  const parentId = nodeId - 1
  const plain = { role: 'toolResult', callId, toolName: name, content, isError } as const
  const message: ToolResultMessage =
    inner === undefined && isWithoutEffects(result) && (synthetic ?? hasLesson ?? ofRuntime ?? via) === undefined
      ? plain
      : {
          ...plain,
          ...(synthetic === undefined ? {} : { synthetic }),
          ...effectsIn(inner === undefined ? result : withInner(result, inner)),
          ...(inner?.calls === undefined ? {} : { calls: inner.calls }),
          ...(inner === undefined || inner.failures.length === 0 ? {} : { failures: inner.failures }),
          ...(hasLesson === undefined ? {} : { hasLesson }),
          ...(ofRuntime === undefined ? {} : { ofRuntime }),
          ...(via === undefined ? {} : { via }),
        }
  const type = 'tool.end'
  const ended = { v, seq: 0, type, runId, turnIndex, nodeId, parentId, callId, key, name, message, ...room } as const
  if (data === undefined && (dataApart ?? endsRun ?? returned ?? spent ?? hook ?? delivers ?? handoff) === undefined)
    return draft.record(ended)
  draft.record({
    ...ended,
    ...(data === undefined ? {} : { data }),
    ...(dataApart === undefined ? {} : { dataApart }),
    ...(endsRun === undefined ? {} : { endsRun }),
    ...(value === undefined ? {} : { value }),
    ...(answer === undefined ? {} : { answer }),
    ...(returned === undefined ? {} : { returned }),
    ...(spent === undefined ? {} : { spent }),
    ...(hook === undefined ? {} : { hook }),
    ...(delivers === undefined ? {} : { delivers }),
    ...(handoff === undefined ? {} : { handoff }),
  })
}

/** Returns a block that tells the model which input its call ran with. */
export function editNote({ input }: Pick<CallState, 'input'>): PlainBlock {
  const json = JSON.stringify(input)
  const cut = json.length > maxNotedChars ? `${json.slice(0, maxNotedChars).replace(halfSign, '')}…` : json
  return { type: 'text', text: `A person changed the arguments of this call before it ran, to: ${cut}` }
}

const maxNotedChars = 1_000
/** Pattern of a lone first half of a surrogate pair, which no provider accepts. */
const halfSign = /[\uD800-\uDBFF]$/

/** A reason that needs an explanation; the answer of a hook explains itself. */
export type ExplainedReason = Exclude<SyntheticReason, 'answered'>

/** Text that the model reads in place of a result that the tool did not give. */
const explanations: {
  readonly [R in ExplainedReason]: (wasRunning: boolean, why: string | undefined) => string
} = {
  aborted: (wasRunning) =>
    wasRunning ? 'Aborted while it ran: what it did so far was not undone.' : 'Aborted before it started.',
  refused: (_, why) => `No sub-agent was started: ${why ?? 'it was refused'}.`,
  skipped: (wasRunning) =>
    wasRunning
      ? 'Skipped: the user said something new before the agent was done. What it did so far was not undone.'
      : 'Skipped: the user said something new before this call started. It was not run.',
  denied: (_, why) => denialText(why),
  interrupted: (wasRunning) =>
    wasRunning ? 'Interrupted: it is not known whether it happened.' : 'Interrupted before it started: it was not run.',
}
