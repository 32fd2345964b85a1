import type { ToolResultMessage } from '../protocol/messages.ts'
import { recordVersion as v, type RecordOf } from '../protocol/records.ts'
import type { CallState } from './agentTypes.ts'
import { room, type Draft } from './draft.ts'
import { editNote } from './editNote.ts'
import { explanations, type ExplainedReason } from './explanations.ts'
import { hookSlot } from './hooks.ts'
import { awaitReport, deliverReports } from './reports.ts'

/** Something of the call was done, or may have been. */
const begun: ReadonlySet<CallState['status']> = new Set(['running', 'asking', 'asked', 'requested', 'paused'])

/** Answers a call in the name of the runtime. */
export function synthesize(
  draft: Draft,
  index: number,
  synthetic: ExplainedReason,
  why?: string,
  more: Pick<CallResult, 'spent' | 'returned'> = {},
): void {
  const { status } = draft.context.calls[index]!
  if (status === 'checking') draft.children.push({ type: 'stop', id: hookSlot(index) })
  const text = explanations[synthetic](begun.has(status), why)
  endCall(draft, index, {
    content: [{ type: 'text', text }],
    isError: true,
    synthetic,
    ...more,
  })
}

type CallResult = Pick<
  ToolResultMessage,
  'content' | 'isError' | 'synthetic' | 'changed' | 'receipt' | 'hasLesson' | 'ofRuntime' | 'artifacts'
> &
  Pick<RecordOf<'tool.end'>, 'spent' | 'returned' | 'hook' | 'delivers' | 'handoff'>

/** Gives a call its result. */
export function endCall(draft: Draft, index: number, result: CallResult): void {
  const call = draft.context.calls[index]!
  recordEnd(draft, call, result)
  draft.setCall(index, { status: 'settled' })
  if (call.reports === true && !result.isError) awaitReport(draft, call)
  if (result.delivers !== undefined) deliverReports(draft, result.delivers)
}

/** Records the end of a call. */
export function recordEnd(draft: Draft, call: CallState, result: CallResult): void {
  const { callId, key, name, nodeId } = call
  const content =
    call.edited === 'person' && begun.has(call.status) ? [editNote(call), ...result.content] : result.content
  const {
    isError,
    synthetic,
    changed = [],
    receipt,
    hasLesson,
    ofRuntime,
    artifacts,
    spent,
    returned = call.returned,
    hook,
    delivers,
    handoff,
  } = result
  const { runId, turnIndex } = draft.at
  const parentId = nodeId - 1
  const plain = { role: 'toolResult', callId, toolName: name, content, isError } as const
  const message: ToolResultMessage =
    synthetic === undefined && changed.length === 0 && (receipt ?? hasLesson ?? ofRuntime ?? artifacts) === undefined
      ? plain
      : {
          ...plain,
          ...(synthetic === undefined ? {} : { synthetic }),
          ...(changed.length === 0 ? {} : { changed }),
          ...(receipt === undefined ? {} : { receipt }),
          ...(hasLesson === undefined ? {} : { hasLesson }),
          ...(ofRuntime === undefined ? {} : { ofRuntime }),
          ...(artifacts === undefined ? {} : { artifacts }),
        }
  const type = 'tool.end'
  const ended = { v, seq: 0, type, runId, turnIndex, nodeId, parentId, callId, key, name, message, ...room } as const
  if ((returned ?? spent ?? hook ?? delivers ?? handoff) === undefined) return draft.record(ended)
  draft.record({
    ...ended,
    ...(returned === undefined ? {} : { returned }),
    ...(spent === undefined ? {} : { spent }),
    ...(hook === undefined ? {} : { hook }),
    ...(delivers === undefined ? {} : { delivers }),
    ...(handoff === undefined ? {} : { handoff }),
  })
}
