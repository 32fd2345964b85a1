import { mapped } from '../../protocol/mapped.ts'
import type { Tag } from '../../protocol/braking.ts'
import type { NodeId } from '../../protocol/ids.ts'
import { toolCallsOf } from '../../protocol/text/messageText.ts'
import type { QueuedMessage, QueueName } from '../../protocol/runs/queue.ts'
import type { LogRecord, RecordOf } from '../../protocol/records.ts'
import {
  keepOpen,
  markCall,
  nodesOf,
  openedAgain,
  wrongInPlace,
  wrongInResult,
  type OpenStep,
  type ConversationNode,
} from './node.ts'
import { tagsIn, type KeptConversation } from './keptConversation.ts'
import { TreeView, type NodeReader, type ConversationTree } from './conversationTree.ts'
import { Annotations } from './annotations.ts'
import { brakeFolds } from '../brakes/brakeFolds.ts'
import type { Reshaped } from './reshaped.ts'
import type { Notice } from '../request/brakeNotes.ts'
import type { ConversationView } from './conversationView.ts'
import { check, corrupt } from '../../log/fold.ts'
import { LaidOverlays, type OverlaySpan, type LaidOverlay } from '../request/overlay.ts'
import { changedByOverlay } from '../brakes/hiddenSteps.ts'
import { renderRepair } from '../request/repairNote.ts'
import { noNotes, noteTokens, type NoteTokens } from '../request/noteTokens.ts'
import {
  measure,
  unmeasured,
  wentOn,
  withRun,
  type Measured,
  estimateTokens,
  type TokenCounter,
} from '../limits/tokenCounter.ts'
import { UndoneTags } from '../brakes/revert/undoneTags.ts'
import { noQueues, WaitingMessages } from './waitingMessages.ts'
import { beginWork, endWork } from './receipts.ts'
import { TreeState, type StatePlace } from '../parts/state/treeState.ts'
import { withheldText } from '../../protocol/text/withheldText.ts'

/**
 * Replaces messages that a guard refused by a line, for people and for the model. Only the log has their content. Returns the depth of the first.
 * @throws RuntimeError `LOG_CORRUPT`
 */
function withhold(record: RecordOf<'guard.decided'>, tree: ConversationTree, counter: TokenCounter): number {
  const { withheld = [] } = record
  const isSaid = withheld.every((id) => tree.node(id)?.message.role === 'user')
  check(record, isSaid ? undefined : 'it withholds what is no message of the user')
  const content = [{ type: 'text', text: withheldText(record) }] as const
  return tree.change(withheld, counter, ({ message, ...node }) =>
    message.role === 'user' ? { ...node, message: { ...message, content } } : { ...node, message },
  )
}

/** Depths from which a trunk changed other than by growing. */
export class TrunkChanges {
  /** Depths of the changes. */
  readonly #depths: number[] = []

  /** Number of such changes. */
  get epoch(): number {
    return this.#depths.length
  }

  /** Returns the lowest depth that changed since that epoch. */
  since(epoch: number): number {
    let depth = Infinity
    for (let i = epoch; i < this.epoch; i++) depth = Math.min(depth, this.#depths[i]!)
    return depth
  }

  add(depth: number): void {
    this.#depths.push(depth)
  }
}

/**
 * The conversation tree: a fold of the log. `apply` is its only way to change; it appends in amortised constant time.
 */
export class Conversation extends TreeView implements ConversationView, Reshaped {
  readonly #counter: TokenCounter
  readonly overlays: LaidOverlays
  /** Waiting messages; missing until the first one waits. */
  #waiting: WaitingMessages | undefined
  #open: OpenStep | undefined
  #lastSeq = 0
  #measured = unmeasured
  #annotations: Annotations | undefined
  /** Changes of the trunk other than growth; missing until there is one. */
  #changes: TrunkChanges | undefined
  #notes = noNotes
  /** Text that tells the model about an answer that could not be used. */
  #repair: string | undefined
  readonly undone = new UndoneTags(this.tree)
  #ownFrom: NodeId = 1
  /** The state on the tree; `undefined` until it is first changed. */
  state: TreeState | undefined
  /** Span of the overlay in force. Every change that could end it, or bring another, is a change of the trunk. */
  #shown: OverlaySpan | undefined

  /** Restores a conversation. `kept`: the result of `keep` of a conversation with the same counter, and its nodes. */
  constructor(
    counter: TokenCounter = estimateTokens,
    kept?: { readonly state: KeptConversation; readonly nodes: NodeReader },
  ) {
    super(kept && { ...kept.state.tree, nodes: kept.nodes }, kept && tagsIn(kept.state))
    this.#counter = counter
    this.overlays = new LaidOverlays(kept?.state.overlays, kept?.nodes)
    if (kept !== undefined) this.#restore(kept.state)
  }

  #restore(state: KeptConversation): void {
    const { open, waiting, annotations, undone } = state
    if (state.state !== undefined) this.state = TreeState.from(state.state)
    ;({ lastSeq: this.#lastSeq, measured: this.#measured, ownFrom: this.#ownFrom } = state)
    ;({ notes: this.#notes, repair: this.#repair } = state)
    this.#shown = state.shown === undefined ? undefined : this.overlays.span(state.shown)
    if (waiting !== undefined) this.#waiting = new WaitingMessages(waiting)
    if (annotations !== undefined) this.#annotations = new Annotations(annotations)
    this.#open = open && openedAgain(open)
    if (undone !== undefined) this.undone.resume(undone.id, this.#annotations!.tagged[undone.tagged]!)
  }

  /** Returns everything except the nodes and overlays as plain JSON. It shares objects with the conversation, so use it at once. */
  keep(): KeptConversation {
    return {
      lastSeq: this.#lastSeq,
      measured: this.#measured,
      ownFrom: this.#ownFrom,
      notes: this.#notes,
      repair: this.#repair,
      overlays: this.overlays.spans,
      shown: this.#shown?.nodeId,
      waiting: this.#waiting?.keep(),
      annotations: this.#annotations?.keep(),
      open: this.#open && keepOpen(this.#open),
      state: this.state?.keep(),
      undone: this.undone.keep(this.#annotations?.tagged ?? []),
      tree: this.tree.keep(),
    }
  }

  /** `seq` of the last record applied. */
  get lastSeq(): number {
    return this.#lastSeq
  }

  /** The first id after the past that a fork shares with its source. */
  get ownFrom(): NodeId {
    return this.#ownFrom
  }

  /** Number of changes of the trunk other than growth. */
  get epoch(): number {
    return this.#changes?.epoch ?? 0
  }

  /** Returns the lowest depth that changed since that epoch. Messages rendered before it are still valid. */
  changedSince(epoch: number): number {
    return this.#changes?.since(epoch) ?? Infinity
  }

  /** Tags, notices, prunes and requests; `undefined` while there are none. */
  get annotations(): Annotations | undefined {
    return this.#annotations
  }

  tags(): { nodeId: NodeId; tag: Tag }[] {
    const tagged = this.#annotations?.tagged ?? []
    return tagged.flatMap(({ nodeId, tag }) => (this.onTrunk(nodeId) ? { nodeId, tag } : []))
  }

  pins(): NodeId[] {
    return [...(this.#annotations?.pinned ?? [])].toSorted((a, b) => a - b)
  }

  masks(): NodeId[] {
    return [...(this.#annotations?.masked.steps ?? [])].filter((id) => this.onTrunk(id)).toSorted((a, b) => a - b)
  }

  /** Waiting messages, oldest first. */
  get queues(): { readonly [Q in QueueName]: readonly QueuedMessage[] } {
    return this.#waiting?.queues ?? noQueues
  }

  get measured(): Measured {
    return this.#measured
  }

  get correction(): number {
    return this.#measured.correction
  }

  get tokens(): number {
    return Math.round(this.trunkTokens * this.correction)
  }

  /** Estimated tokens of the trunk as shown, before correction. */
  get trunkTokens(): number {
    const repair = this.#repair === undefined ? 0 : this.#counter.text(this.#repair)
    const { shown, taken } = this.#notes
    return (this.tree.head?.pathTokens ?? 0) - (this.overlay?.saved ?? 0) + shown - taken + repair
  }

  /** Estimated tokens of the notes shown beside the messages of the trunk, without a summary. */
  get notes(): NoteTokens {
    return this.#notes
  }

  /** Note after the trunk about the fault of the last answer, until the model has answered. */
  get repair(): string | undefined {
    return this.#repair
  }

  /** The compaction in force: the newest whose span is on the trunk. */
  get overlay(): LaidOverlay | undefined {
    return this.#shown && this.overlays.get(this.#shown.nodeId)
  }

  get counter(): TokenCounter {
    return this.#counter
  }

  log(): ConversationNode[] {
    const nodes = this.tree.all()
    return this.#open === undefined ? nodes : [...nodes, ...nodesOf(this.#open, this.tree.head, this.#counter)]
  }

  summaryEnd(id: NodeId): ConversationNode | undefined {
    const overlay = this.overlays.span(id)
    return overlay === undefined ? undefined : this.tree.node(overlay.to)
  }

  /**
   * Applies one record. A record that was already applied (by `seq`) is ignored.
   * @throws RuntimeError `LOG_CORRUPT` if the record does not follow from earlier ones; nothing changes then
   */
  apply(record: LogRecord): void {
    if (record.seq <= this.#lastSeq) return
    if (record.seq !== this.#lastSeq + 1) throw corrupt(record, `seq ${this.#lastSeq + 1} is missing`)
    switch (record.type) {
      case 'agent.created':
        if (record.parent?.expected !== undefined)
          this.#measured = { ...this.#measured, expected: record.parent.expected }
        break
      case 'run.start':
      case 'turn.start':
        this.#measured = wentOn(this.#measured, record)
        break
      case 'message.added':
        check(record, wrongInPlace(record, this.#open, this.tree))
        this.tree.append(record, record.nodeId, this.#counter)
        this.#annotations?.personSpoke()
        this.#repair = undefined
        this.#waiting?.said(record.message.content)
        break
      case 'reply.end':
        this.#applyReply(record)
        this.#repair = undefined
        break
      case 'reply.reset':
        if (record.without !== undefined) this.annotate().refuse(record.without, record.turnIndex)
        if (record.repair === undefined) break
        this.#repair = renderRepair(record.repair)
        this.changed(this.tree.path.length + 1)
        break
      case 'tool.start':
        if (record.irreversible || record.reversible || record.polls || record.edited || record.background)
          markCall(this.#open, record)
        break
      // The effects of a call are those of the calls that it makes.
      case 'inner.start':
        if (record.irreversible || record.reversible) markCall(this.#open, record)
        break
      case 'tool.end':
        this.#applyResult(record)
        this.#measured = withRun(wentOn(this.#measured, record), record)
        if (record.delivers !== undefined) this.#waiting?.delivered(record.delivers)
        break
      case 'guard.decided':
        if (record.withheld !== undefined) this.changed(withhold(record, this.tree, this.#counter))
        break
      case 'call.reported':
        endWork(this, record)
        break
      case 'run.end':
        if (record.reason?.type === 'stall') this.#annotations?.stalls.pause()
        break
      case 'queue.changed':
        this.#waiting ??= new WaitingMessages()
        this.#waiting.apply(record)
        break
      default:
        brakeFolds[record.type]?.(this, record)
    }
    this.#lastSeq = record.seq
    if (record.foreign === true) this.tree.foreignTo = this.lastNodeId
  }

  /** Notes which tags the last request showed. They count as long as they are shown, whatever their age. */
  showTags(shown: ReadonlySet<Tag>): void {
    if (this.#annotations?.showTags(shown) === true) this.#notes = noteTokens(this, this.#annotations)
  }

  /** Continues with the log of a fork. Waiting messages and open steps stay with the source. Ids continue. */
  beginLog(): void {
    this.#lastSeq = 0
    this.#open = undefined
    this.#waiting = undefined
    this.undone.drop()
    this.#ownFrom = this.lastNodeId + 1
    this.#annotations?.dropRequests()
    this.state?.beginLog(this.head ?? 0, this.lastNodeId)
  }

  #applyReply(record: RecordOf<'reply.end'>): void {
    check(record, wrongInPlace(record, this.#open, this.tree))
    const callIds = mapped(toolCallsOf(record.message.content), (call) => call.callId)
    const repeated = callIds.find((callId, index) => this.hasCall(callId) || callIds.indexOf(callId) !== index)
    if (repeated !== undefined) throw corrupt(record, `call ${repeated} was made before`)
    this.#measured = measure(this.#measured, record)
    if (callIds.length === 0) {
      this.tree.append(record, record.nodeId, this.#counter)
      return
    }
    this.tree.addCalls(callIds)
    this.#open = { reply: record, callIds, results: new Map(), marks: new Map() }
    this.tree.lastNodeId = record.nodeId + callIds.length
  }

  #applyResult(record: RecordOf<'tool.end'>): void {
    check(record, wrongInResult(record, this.#open))
    const open = this.#open!
    open.results.set(record.callId, record)
    if (open.results.size < open.callIds.length) return
    this.#open = undefined
    const stepId = open.reply.nodeId
    this.tree.append(open.reply, stepId, this.#counter)
    for (const callId of open.callIds) {
      const [result, marks] = [open.results.get(callId)!, open.marks.get(callId)]
      this.tree.append(result, stepId, this.#counter, marks)
      beginWork(this, marks?.background, result, stepId)
    }
  }

  notify(notice: Notice): void {
    const head = this.tree.head
    if (head === undefined || this.#open !== undefined) return
    this.annotate().notify(head.id, notice, this.overlay)
    this.changed(head.depth)
  }

  dropRepair(): void {
    this.#repair = undefined
  }

  checkWhole(record: LogRecord): void {
    if (this.#open !== undefined) throw corrupt(record, 'a step is still open')
  }

  get statePlace(): StatePlace {
    const { lastNodeId: last } = this
    if (this.#open !== undefined) return { step: this.#open.reply.nodeId, end: last, last }
    const { head } = this.tree
    return { step: head?.stepId ?? 0, end: head?.id ?? 0, last }
  }

  annotate(): Annotations {
    return (this.#annotations ??= new Annotations())
  }

  changed(depth: number): void {
    const before = this.#shown
    this.#shown = this.overlays.active(this)
    const moved =
      before?.nodeId === this.#shown?.nodeId ? [] : [before, this.#shown].flatMap((overlay) => overlay ?? [])
    const depths = moved.map((overlay) => changedByOverlay(overlay, this.#annotations?.hidden, this))
    this.#changes ??= new TrunkChanges()
    this.#changes.add(Math.min(depth, ...depths))
    this.#notes = noteTokens(this, this.#annotations)
  }
}
