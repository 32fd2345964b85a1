import type { RevertRequest } from '../../../../../../src/protocol/braking.ts'
import type { AgentEvent } from '../../../../../../src/protocol/events.ts'
import type { NodeId } from '../../../../../../src/protocol/ids.ts'
import { formatNodeId } from '../../../../../../src/protocol/text/nodeIds.ts'
import { withheldText } from '../../../../../../src/protocol/text/withheldText.ts'
import { maskOf } from '../../../../../../src/conversation/request/maskedResults.ts'
import { toolCallsOf } from '../../../../../../src/protocol/text/messageText.ts'
import { movedCall, movesCall } from '../../../../../../src/log/callStage.ts'
import { statusAfter } from '../calls/callStatus.ts'
import type { LogRecord, RecordOf } from '../../../../../../src/protocol/records.ts'
import type { CallRow, FoldRow, GraphRow, MemoRow, MessageRow, NoticeRow, TagRow } from './graphRow.ts'
import { copyReply } from '../../../../../../src/conversation/brakes/graft/grafts.ts'
import { noAttempt, noticeOf, type Notice } from './graphNotices.ts'
import { WorkTimes } from '../../../../../charts/src/workTimes.ts'

type Draft<T> = T extends unknown ? { -readonly [K in keyof T]: T[K] } : never
type DraftRow = Draft<GraphRow>

/**
 * Builds the rows of a conversation's graph: a fold of the log, in the order in which the nodes were made. This is also the order of the
 * tree: a branch is complete before the line that it left continues. A record costs as much as it changes.
 */
export class GraphRows {
  readonly #rows: DraftRow[] = []
  readonly #folds: FoldRow[] = []
  readonly #byNode = new Map<NodeId, Draft<MessageRow | CallRow>>()
  /** Rows of prunes, folds and masks, by their ids. */
  readonly #memos = new Map<string, Draft<MemoRow>>()
  /** Calls without a result. */
  readonly #open = new Map<string, Draft<CallRow>>()
  /** The note of the revert that is being undone. */
  #undoing: Draft<TagRow> | undefined
  /** Origins of the reverts that are not yet applied. */
  readonly #asked = new Map<string, Pick<RevertRequest, 'by' | 'policy'>>()
  readonly #times = new WorkTimes()
  /** Names the record that makes rows, and counts these: the same rows have the same keys wherever reading began. */
  #source = ''
  #made = 0
  #version = 0

  /** All rows, oldest first; the array is always the same. */
  get rows(): readonly GraphRow[] {
    return this.#rows
  }

  /** Number of changes so far. */
  get version(): number {
    return this.#version
  }

  /** Compactions, oldest first. */
  get folds(): readonly FoldRow[] {
    return this.#folds
  }

  /** Returns the row of a node. */
  row(id: NodeId): MessageRow | CallRow | undefined {
    return this.#byNode.get(id)
  }

  /** Takes in the next record, with a name for another log than the agent's own. Never throws: a record that makes no sense in its place is ignored. */
  apply(record: LogRecord, log = ''): void {
    const before = this.#version
    this.#source = `${log}${record.seq}`
    this.#made = 0
    this.#fold(record)
    const notice = noticeOf(record)
    const last = this.#rows.at(-1)
    if (notice !== undefined && last?.type === 'notice' && saysTheSame(record, last)) this.#set(last, notice)
    else if (notice !== undefined) this.#push({ ...this.#base(record), type: 'notice', ...notice })
    if (record.type === 'agent.created' && record.forkedFrom !== undefined) this.#forked(record, record.forkedFrom)
    if (this.#version !== before) this.#version = before + 1
  }

  /** Takes in an event that is not in the log. */
  applyLive(event: AgentEvent): void {
    if (event.type !== 'tool.progress') return
    const call = this.#open.get(event.callId)
    if (call !== undefined) this.#set(call, { progress: event.progress })
  }

  #fold(record: LogRecord): void {
    const took = this.#times.take(record as AgentEvent)
    switch (record.type) {
      case 'message.added':
        return this.#say(record)
      case 'guard.decided':
        return this.#withhold(record)
      case 'reply.end':
        return this.#reply(record)
      case 'tool.start': {
        const { callId, childId, irreversible, reversible, edited, input } = record
        return this.#call(callId, {
          status: statusAfter(record),
          ...(edited === true ? { input } : {}),
          ...(childId === undefined ? {} : { childId }),
          ...(irreversible === true || reversible === true ? { keepsOutcome: true } : {}),
        })
      }
      case 'tool.end':
        this.#call(record.callId, {
          status: statusAfter(record),
          result: record.message,
          ...(took === undefined ? {} : { took }),
        })
        this.#open.delete(record.callId)
        return
      case 'run.end':
        for (const { callId } of record.unfinished ?? []) this.#call(callId, { status: 'pending' })
        return
      case 'revert.requested':
        this.#asked.set(record.request.id, askedBy(record.request))
        return
      case 'revert.applied':
        return this.#revert(record)
      case 'graft.applied':
        return this.#graft(record)
      case 'undo.end':
        return this.#undo(record)
      case 'prune.applied':
        return this.#prune(record)
      case 'pin.applied':
        return this.#pin(record)
      case 'compaction.end':
        return this.#compact(record)
      default:
        if (movesCall(record)) this.#call(movedCall(record), { status: statusAfter(record) })
    }
  }

  #base(
    { time }: LogRecord,
    turnIndex = 0,
  ): Omit<Draft<MessageRow>, 'type' | 'nodeId' | 'message' | 'calls' | 'costUsd'> {
    return { key: `row ${this.#source}.${++this.#made}`, lane: 0, isStart: false, version: 0, time, turnIndex }
  }

  #push(row: DraftRow): void {
    this.#rows.push(row)
    this.#version += 1
  }

  #set<R extends DraftRow>(row: R, change: Partial<R>): void {
    Object.assign(row, change)
    row.version += 1
    this.#version += 1
  }

  #place(row: Draft<MessageRow> | Draft<CallRow>): void {
    this.#byNode.set(row.nodeId, row)
    this.#push(row)
  }

  #say(record: RecordOf<'message.added'>): void {
    const { nodeId, message, turnIndex } = record
    this.#place({ ...this.#base(record, turnIndex), type: 'message', nodeId, message, calls: 0, costUsd: 0 })
  }

  /** Replaces a withheld message: the record has its words, and the conversation has a line in its place. */
  #withhold(record: RecordOf<'guard.decided'>): void {
    const content = [{ type: 'text', text: withheldText(record) }] as const
    for (const nodeId of record.withheld ?? []) {
      const row = this.#byNode.get(nodeId)
      if (row?.type === 'message' && row.message.role === 'user')
        this.#set(row, { message: { ...row.message, content } })
    }
  }

  #reply(record: RecordOf<'reply.end'>): void {
    const { nodeId, message, costUsd, turnIndex } = record
    const calls = toolCallsOf(message.content)
    const base = this.#base(record, turnIndex)
    this.#place({ ...base, type: 'message', nodeId, message, calls: calls.length, costUsd })
    for (const [index, { callId, name, input }] of calls.entries()) {
      const at = { ...this.#base(record, turnIndex), nodeId: nodeId + 1 + index, stepId: nodeId }
      const row: Draft<CallRow> = { ...at, type: 'call', callId, name, input, status: 'pending' }
      this.#open.set(callId, row)
      this.#place(row)
    }
  }

  #call(callId: string, change: Partial<CallRow>): void {
    const call = this.#open.get(callId)
    if (call !== undefined) this.#set(call, change)
  }

  #revert(record: RecordOf<'revert.applied'>): void {
    const { id, applied, target, tag, category, rebased = [], turnIndex, economics } = record
    const asked = this.#asked.get(id) ?? { by: 'model' }
    this.#asked.delete(id)
    if (!applied || target === undefined || tag === undefined) return
    const first = tag.abandoned.length === 0 ? undefined : tag.abandoned.reduce((a, b) => Math.min(a, b))
    const index = first === undefined ? this.#rows.length : this.#indexOf(first)
    const until = index < this.#rows.length ? this.#rows.at(-1)!.key : undefined
    for (let i = index; i < this.#rows.length; i++) {
      const row = this.#rows[i]!
      this.#set(row, { lane: row.lane + 1, ...(i === index ? { isStart: true } : {}) })
    }
    const base = this.#base(record, turnIndex)
    const left = { ...(until === undefined ? {} : { until }), ...(economics === undefined ? {} : { economics }) }
    const row: Draft<TagRow> = { ...base, type: 'tag', target, tag, category, ...asked, ...left }
    this.#rows.splice(index, 0, row)
    this.#undoing = record.undo === undefined ? undefined : row
    this.#version += 1
    for (const { nodeId, from } of rebased) {
      const original = this.#byNode.get(from)
      if (original?.type !== 'message') continue
      const { message } = original
      const again = { ...this.#base(record, original.turnIndex), message, calls: 0, costUsd: 0 }
      this.#place({ ...again, type: 'message', nodeId, rebasedFrom: from })
    }
  }

  #graft(record: RecordOf<'graft.applied'>): void {
    let stepId: NodeId = 0
    const ids = new Map<string, string>()
    for (const { nodeId, from } of record.copies) {
      const original = this.#byNode.get(from)
      if (original?.type === 'call') ids.set(original.callId, `graft${nodeId}`)
    }
    for (const { nodeId, from } of record.copies) {
      const original = this.#byNode.get(from)
      const base = this.#base(record, record.turnIndex)
      if (original?.type === 'message' && original.message.role === 'assistant') {
        const message = copyReply(original.message, ids)
        const calls = toolCallsOf(message.content).length
        stepId = nodeId
        this.#place({ ...base, type: 'message', nodeId, message, calls, costUsd: 0, copiedFrom: from })
      } else if (original?.type === 'call') {
        const { name, input, result } = original
        const said = result === undefined ? {} : { result }
        const callId = ids.get(original.callId)!
        this.#place({ ...base, type: 'call', nodeId, stepId, callId, name, input, status: 'ended', ...said })
      }
    }
  }

  /** Adds the outcome of an undo to the tag of its revert. */
  #undo({ undone, kept }: RecordOf<'undo.end'>): void {
    const row = this.#undoing
    this.#undoing = undefined
    if (row !== undefined) this.#set(row, { tag: { ...row.tag, undo: { undone, kept } } })
  }

  #prune(record: RecordOf<'prune.applied'>): void {
    const { id, applied, by, policy, steps, tokens, memo, index, masked, rolled = [], turnIndex, economics } = record
    if (!applied || steps.length === 0) return
    if (record.shown === true) return this.#show(record)
    const outcome = {
      id,
      applied,
      steps,
      tokens,
      ...(by === undefined ? {} : { by }),
      ...(policy === undefined ? {} : { policy }),
      ...(memo === undefined ? {} : { memo }),
      ...(index === undefined ? {} : { index }),
      ...(masked === undefined ? {} : { masked }),
      ...(economics === undefined ? {} : { economics }),
    }
    for (const hidden of this.#rowsOf(steps)) {
      if (masked === undefined) this.#set(hidden, { pruned: outcome })
      else if (hidden.type === 'call' && isMasked(hidden))
        this.#set(hidden, { isMasked: true, ...(policy === undefined ? {} : { maskedBy: policy }) })
    }
    const first = steps.reduce((a, b) => Math.min(a, b))
    const shown = memo === undefined ? {} : { memo }
    const row: Draft<MemoRow> = { ...this.#base(record, turnIndex), type: 'memo', outcome, ...shown }
    this.#insert(first, row)
    for (const part of rolled) this.#rollUp(part)
    this.#memos.set(id, row)
  }

  /** Returns the rows of the messages and calls of some steps. */
  #rowsOf(steps: readonly NodeId[]): Draft<MessageRow | CallRow>[] {
    return steps.flatMap((step) => {
      const row = this.#byNode.get(step)
      if (row?.type !== 'message') return []
      const ids = Array.from({ length: row.calls + 1 }, (_, call) => step + call)
      return ids.flatMap((id) => this.#byNode.get(id) ?? [])
    })
  }

  /** Removes the marks of steps that are shown again, and the steps from the rows that hid them. */
  #show({ steps }: RecordOf<'prune.applied'>): void {
    for (const row of this.#rowsOf(steps)) {
      delete row.pruned
      if (row.type === 'call') {
        delete row.isMasked
        delete row.maskedBy
      }
      this.#set(row, {})
    }
    const shown = new Set(steps)
    for (const [id, row] of this.#memos) {
      const left = row.outcome.steps.filter((step) => !shown.has(step))
      if (left.length === row.outcome.steps.length) continue
      this.#set(row, { outcome: { ...row.outcome, steps: left } })
      if (left.length > 0) continue
      this.#memos.delete(id)
      this.#remove(row)
    }
  }

  #remove(row: DraftRow): void {
    const index = this.#rows.indexOf(row)
    const next = this.#rows[index + 1]
    if (row.isStart && next !== undefined) this.#set(next, { isStart: true })
    this.#rows.splice(index, 1)
    this.#version += 1
  }

  /** Replaces the memos of older folds with one shorter memo, which stands at the first of them. */
  #rollUp({ folds, memo }: NonNullable<RecordOf<'prune.applied'>['rolled']>[number]): void {
    const rows = folds.flatMap((id) => this.#memos.get(id) ?? [])
    const [first, ...others] = rows.toSorted((a, b) => a.outcome.steps[0]! - b.outcome.steps[0]!)
    if (first === undefined) return
    this.#set(first, { memo })
    const mergedInto = first.outcome.steps[0]!
    for (const row of others) this.#set(row, { memo: '', mergedInto })
  }

  #pin({ applied, step, pinned: isPinned }: RecordOf<'pin.applied'>): void {
    if (!applied || step === undefined) return
    const row = this.#byNode.get(step)
    const fold = this.#folds.find(({ overlay }) => overlay.nodeId === step)
    if (row?.type === 'message') this.#set(row, { isPinned })
    if (fold !== undefined) this.#set(fold, { isPinned })
  }

  #compact(record: RecordOf<'compaction.end'>): void {
    const { applied, overlay, tokensBefore, tokensAfter, turnIndex, economics } = record
    if (!applied || overlay === undefined) return
    const fold: Draft<FoldRow> = {
      ...this.#base(record, turnIndex),
      type: 'fold',
      overlay,
      tokensBefore,
      tokensAfter,
      ...(economics === undefined ? {} : { economics }),
    }
    this.#folds.push(fold)
    this.#insert(overlay.from, fold)
  }

  /** Puts a row before the one of a node, in the same lane. */
  #insert(before: NodeId, row: DraftRow): void {
    const index = this.#indexOf(before)
    const next = this.#rows[index]
    if (next !== undefined) {
      row.lane = next.lane
      row.isStart = next.isStart
      if (next.isStart) this.#set(next, { isStart: false })
    }
    this.#rows.splice(index, 0, row)
    this.#version += 1
  }

  /** Returns the index of a node's row, or of the first row that stands before that row because of the node; the end if there is none. */
  #indexOf(id: NodeId): number {
    const row = this.#byNode.get(id)
    let index = row === undefined ? -1 : this.#rows.lastIndexOf(row)
    if (index < 0) return this.#rows.length
    while (['fold', 'memo'].includes(this.#rows[index - 1]?.type ?? '')) index -= 1
    return index
  }

  /** Begins the log of a fork: a step with open calls stays with the source, and its rows are removed. */
  #forked(record: LogRecord, { agentId, at }: NonNullable<RecordOf<'agent.created'>['forkedFrom']>): void {
    const open = this.#open.values().next().value
    if (open !== undefined) {
      const index = this.#rows.indexOf(this.#byNode.get(open.stepId)!)
      for (const row of this.#rows.splice(index)) if ('nodeId' in row) this.#byNode.delete(row.nodeId)
      this.#open.clear()
    }
    const notice: Notice = {
      tone: 'plain',
      text: `Forked at ${formatNodeId(at)}: what is above belongs to ${agentId}.`,
    }
    this.#push({ ...this.#base(record), type: 'notice', ...notice, link: agentId })
  }
}

const askedBy = ({ by, policy }: RevertRequest): Pick<RevertRequest, 'by' | 'policy'> =>
  policy === undefined ? { by } : { by, policy }

/** Returns true if the end of a run repeats the notice of its last failed attempt. */
const saysTheSame = (record: LogRecord, { text }: NoticeRow): boolean =>
  record.type === 'run.end' &&
  record.error !== undefined &&
  text.startsWith('Attempt ') &&
  text.endsWith(`${record.error.message} (${noAttempt})`)

/** Returns true if masking the call's step changes the call's result. */
const isMasked = ({ nodeId: id, result, keepsOutcome }: CallRow): boolean =>
  result !== undefined &&
  maskOf({ id, message: result, ...(keepsOutcome && { isIrreversible: keepsOutcome }) }) !== undefined
