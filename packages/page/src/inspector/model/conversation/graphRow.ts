import type { PruneOutcome, RevertCategory, RevertRequest, Tag } from '../../../../../../src/protocol/braking.ts'
import type { Economics } from '../../../../../../src/protocol/economics.ts'
import type { NodeId } from '../../../../../../src/protocol/ids.ts'
import type { Message, ToolResultMessage } from '../../../../../../src/protocol/messages.ts'
import type { Overlay } from '../../../../../../src/protocol/records.ts'
import type { Took } from '../../../../../charts/src/workTimes.ts'
import type { ShownStatus } from '../calls/callStatus.ts'

interface Row {
  /** Unique key, which stays the same while the row exists. */
  readonly key: string
  /** Lane of the row: 0 on the trunk, on an abandoned branch one more than the line that it left. */
  readonly lane: number
  /** True if a branch begins here: its line comes from the lane before. */
  readonly isStart: boolean
  /** Number of changes of this row. */
  readonly version: number
  /** Time of the row's record, in epoch milliseconds. */
  readonly time: number
  readonly turnIndex: number
}

/** A message of a person or of the model. */
export interface MessageRow extends Row {
  readonly type: 'message'
  readonly nodeId: NodeId
  readonly message: Exclude<Message, ToolResultMessage>
  /** Number of calls of the message. Their rows follow. */
  readonly calls: number
  readonly costUsd: number
  readonly pruned?: PruneOutcome
  /** True if no prune, mask, fold or compaction may hide the row's step. */
  readonly isPinned?: boolean
  /** Node of the message that this one repeats, after a revert took that one off the trunk. */
  readonly rebasedFrom?: NodeId
  /** Node of the message that this one is a copy of, brought back from an abandoned branch. */
  readonly copiedFrom?: NodeId
}

/** A tool call with its result, which is the node. */
export interface CallRow extends Row {
  readonly type: 'call'
  readonly nodeId: NodeId
  readonly stepId: NodeId
  readonly callId: string
  readonly name: string
  readonly input: unknown
  readonly status: ShownStatus
  readonly result?: ToolResultMessage
  /** Last progress that the tool reported. */
  readonly progress?: unknown
  /** Id of the sub-agent that carries out the call. */
  readonly childId?: string
  /** Time that the call took; set once it has ended. */
  readonly took?: Took
  readonly pruned?: PruneOutcome
  /** True if its tool says if it can be undone: its outcome then stays in sight when its result is masked. */
  readonly keepsOutcome?: true
  /** True if the model sees a line in place of the result. */
  readonly isMasked?: boolean
  /** The policy that masked the result. */
  readonly maskedBy?: string
}

/** The tag that a revert left on the trunk; the branch that it abandoned follows, if there is one. */
export interface TagRow extends Row {
  readonly type: 'tag'
  readonly target: NodeId
  readonly tag: Tag
  readonly category: RevertCategory
  readonly by: RevertRequest['by']
  /** The policy that planned the revert. */
  readonly policy?: string
  /** Key of the last row of the branch. */
  readonly until?: string
  readonly economics?: Economics
}

/** A summary that stands for the rows that follow, as long as it is in force. */
export interface FoldRow extends Row {
  readonly type: 'fold'
  readonly overlay: Overlay
  /** True if no other summary may take its place. */
  readonly isPinned?: boolean
  readonly tokensBefore: number
  readonly tokensAfter: number
  readonly economics?: Economics
}

/** Memo of steps that were hidden from the model or folded; the first of them follows. */
export interface MemoRow extends Row {
  readonly type: 'memo'
  readonly outcome: PruneOutcome
  /** Text that stands for the steps; for a fold that was rolled up, the shorter memo. */
  readonly memo?: string
  /** First step of the fold whose memo this fold's memo was merged into. */
  readonly mergedInto?: NodeId
}

/** An event between messages. */
export interface NoticeRow extends Row {
  readonly type: 'notice'
  readonly tone: 'plain' | 'warning' | 'bad'
  readonly text: string
  /** Id of an agent to go to. */
  readonly link?: string
}

/** Steps whose only call failed, the same each time; their rows follow. */
export interface RepeatRow extends Row {
  readonly type: 'repeat'
  readonly name: string
  readonly input: unknown
  readonly times: number
  readonly from: NodeId
  readonly to: NodeId
  /** Result of the last of these calls. */
  readonly result: ToolResultMessage
}

/** A line of the conversation's graph. */
export type GraphRow = MessageRow | CallRow | TagRow | FoldRow | MemoRow | NoticeRow

/** A line as it is shown. It may stand for several rows. */
export type ShownRow = GraphRow | RepeatRow
