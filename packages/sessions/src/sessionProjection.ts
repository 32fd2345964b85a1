import { isWait } from '../../../src/protocol/runs/waits.ts'
import { brakeWords } from '../../words/src/brakes/brakeWords.ts'
import { linesAbout } from '../../words/src/parts/partLines.ts'
import { isImported } from '../../../src/protocol/text/nodeIds.ts'
import type { Usage } from '../../../src/protocol/messages.ts'
import { addUsage, noUsage, toolCallsOf } from '../../../src/protocol/text/messageText.ts'
import type { LastRun } from '../../../src/protocol/runs/lastRun.ts'
import type { LogRecord, PauseReason, RecordOf, RunStopReason } from '../../../src/protocol/records.ts'
import type { SessionRun, Session, SessionCall, SessionStatus, TrunkChange, Turn, TurnInput } from './session.ts'
import {
  movedCall,
  movesCall,
  stageAfter,
  statusOf as callStatusOf,
  type CallRecord,
} from '../../../src/log/callStage.ts'
import { Folding } from '../../../src/log/fold.ts'
import { machineFold, pauseOf } from './machineState.ts'
import { outlineFold } from '../../../src/log/outline.ts'

const folds = [machineFold, outlineFold]

type Draft<T> = { -readonly [K in keyof T]: T[K] }
type CallDraft = Draft<SessionCall>
type TurnDraft = Draft<Omit<Turn, 'toolCalls' | 'changes'>> & { toolCalls: CallDraft[]; changes: TrunkChange[] }
type RunDraft = Draft<Omit<SessionRun, 'turns'>> & { turns: TurnDraft[] }

const statusOf: { readonly [R in RunStopReason]: SessionStatus } = {
  stop: 'completed',
  length: 'completed',
  refusal: 'rejected',
  paused: 'paused',
  aborted: 'aborted',
  error: 'failed',
}

/** Returns the larger of each count. After a crash the machine counts less than its log, and older logs lack the costs of failed attempts. */
const larger = (a: Usage, b: Usage): Usage => {
  const most: Draft<Usage> = {
    input: Math.max(a.input, b.input),
    output: Math.max(a.output, b.output),
    cacheRead: Math.max(a.cacheRead, b.cacheRead),
    cacheWrite: Math.max(a.cacheWrite, b.cacheWrite),
  }
  if (a.reasoning !== undefined || b.reasoning !== undefined)
    most.reasoning = Math.max(a.reasoning ?? 0, b.reasoning ?? 0)
  return most
}

const isAnswered = ({ reply, toolCalls }: TurnDraft): boolean =>
  reply !== undefined && toolCalls.every(({ status }) => status === 'ended')

/**
 * Folds a log into its session, one record at a time in log order, so a listener can use it live. It keeps a little of each turn and
 * no messages. Never throws: a record that makes no sense in its place is ignored.
 */
export class SessionProjection {
  #head: Pick<Session, 'id' | 'kind' | 'path' | 'definition' | 'model' | 'parent' | 'forkedFrom' | 'metadata'> = {
    id: '',
    path: [],
    definition: '',
    model: '',
  }
  #createdAt: number | undefined
  #updatedAt = 0
  #isStopped = false
  readonly #folding = new Folding(folds)
  readonly #machine = this.#folding.at(machineFold)
  readonly #outline = this.#folding.at(outlineFold)
  readonly #runs: RunDraft[] = []
  /** The current run. `#turn` is its current turn. */
  #run: RunDraft | undefined
  #turn: TurnDraft | undefined
  /** Number of failed attempts in the current turn. */
  #failed = 0
  /** Messages that are not part of a turn yet. */
  #input: TurnInput[] = []
  /** Calls that have not ended, each with the turn that made it. */
  readonly #calls = new Map<string, { readonly call: CallDraft; readonly turn: TurnDraft }>()
  readonly #changes: TrunkChange[] = []
  /** Names of the policies that planned reverts, by request id. */
  readonly #planned = new Map<string, string>()
  readonly #children: string[] = []
  /** True if its newest record was imported. */
  #isForeign = false
  /** Tokens used while no run was under way. */
  #usageAtRest = noUsage
  #costAtRest = 0

  /** Takes in the next record. */
  apply(record: LogRecord): void {
    this.#createdAt ??= record.time
    this.#updatedAt = record.time
    this.#isForeign = record.foreign === true
    this.#folding.apply(record)
    if (movesCall(record)) return this.#moveCall(record)
    switch (record.type) {
      case 'agent.created':
        return this.#create(record)
      case 'host.created':
        this.#head = { id: record.hostId, kind: 'machine', path: [], definition: record.machine, model: '' }
        return
      case 'run.start':
        return this.#startRun(record)
      case 'run.end':
        return this.#endRun(record)
      case 'run.abandoned':
        return this.#abandon(record)
      case 'turn.start':
        return this.#startTurn(record)
      case 'turn.end':
        return this.#endTurn(record)
      case 'message.added':
        if (isImported(record)) return
        return this.#addInput({ nodeId: record.nodeId, role: 'user', source: record.message.source })
      case 'reply.end':
        return this.#reply(record)
      case 'reply.reset':
        return this.#failReply(record)
      case 'revert.applied':
      case 'prune.applied':
      case 'compaction.end':
        return this.#change(record)
      case 'revert.requested':
        if (record.request.policy !== undefined) this.#planned.set(record.request.id, record.request.policy)
        return
      case 'policy.end':
        if (record.usage !== undefined) this.#spend(record.usage, record.costUsd)
        return
      case 'child.spawned':
        if (record.incognito !== true) this.#children.push(record.childId)
        return
      case 'agent.stopped':
        this.#isStopped = true
        return
      default:
        if (isOfBrake(record)) this.#change(record)
        // Asks the lines of parts, as a page has these and no schemas.
        else if (linesAbout(record) !== undefined && 'costUsd' in record && record.usage !== undefined)
          this.#spend(record.usage, record.costUsd)
    }
  }

  /** State of the machine according to the log. */
  get state(): string {
    return this.#machine.state.state
  }

  /** Reason for the pause according to the log. */
  get pause(): PauseReason | null {
    return pauseOf(this.#machine.state)
  }

  /** Copy of the current session. */
  get session(): Session {
    const pause = this.#isForeign ? null : this.pause
    const runs = this.#runs.map((run) => (run === this.#run ? { ...run, ...this.#openAs(pause) } : run))
    const { title, last = pause === null ? undefined : this.#waitingFor(pause) } = this.#outline.state
    return structuredClone({
      ...this.#head,
      createdAt: this.#createdAt ?? 0,
      updatedAt: this.#updatedAt,
      status: runs.at(-1)?.status ?? 'completed',
      isStopped: this.#isStopped,
      runs,
      children: this.#children,
      changes: this.#changes,
      ...(title === undefined ? {} : { title }),
      ...(last === undefined ? {} : { last }),
      usage: runs.reduce((sum, run) => addUsage(sum, run.usage), this.#usageAtRest),
      costUsd: runs.reduce((sum, run) => sum + run.costUsd, this.#costAtRest),
    })
  }

  /** Returns the status of the current run. An open run has no record of its pause, and a run of an imported log never continues. */
  #openAs(pause: PauseReason | null): Partial<Pick<RunDraft, 'status' | 'reason'>> {
    if (this.#isForeign) return { status: 'aborted' }
    return pause !== null && isWait(pause) ? { status: 'paused', reason: pause } : {}
  }

  #waitingFor(reason: PauseReason): LastRun {
    return { stopReason: 'paused', at: this.#updatedAt, reason }
  }

  #create({ agentId, path, definition, model, parent, forkedFrom, metadata }: RecordOf<'agent.created'>): void {
    this.#head = {
      id: agentId,
      path,
      definition,
      model,
      ...(parent === undefined ? {} : { parent }),
      ...(forkedFrom === undefined ? {} : { forkedFrom }),
      ...(metadata === undefined ? {} : { metadata }),
    }
  }

  #startRun(record: RecordOf<'run.start'>): void {
    const { runId: id, cause, requestId, resumedFrom, limits, model, time } = record
    this.#run = {
      id,
      cause,
      requestId,
      ...(resumedFrom === undefined ? {} : { resumedFrom }),
      status: 'running',
      startedAt: time,
      ...(model === undefined ? {} : { model }),
      limits,
      turns: [],
      usage: noUsage,
      costUsd: 0,
    }
    this.#runs.push(this.#run)
    this.#turn = undefined
  }

  #endRun({ stopReason, usage, costUsd, reason, error, time }: RecordOf<'run.end'>): void {
    const run = this.#run
    if (run === undefined) return
    run.status = statusOf[stopReason]
    run.endedAt = time
    run.usage = larger(run.usage, usage)
    run.costUsd = Math.max(run.costUsd, costUsd)
    if (reason !== undefined) run.reason = reason
    if (error !== undefined) run.error = error
    const last = run.turns.at(-1)
    if (last !== undefined && !(run.status === 'paused' && isAnswered(last))) last.status = run.status
    this.#run = this.#turn = undefined
  }

  /** Notes that a run that was already over was abandoned. */
  #abandon({ runId }: RecordOf<'run.abandoned'>): void {
    const run = this.#runs.find(({ id }) => id === runId)
    if (run !== undefined) run.status = 'aborted'
  }

  #moveCall(record: CallRecord): void {
    if (record.type === 'tool.end') return this.#endCall(record)
    if (record.type === 'tool.start') return this.#startCall(record)
    this.#setCall(movedCall(record), { status: callStatusOf[stageAfter(record)] })
  }

  #startCall({ callId, key, childId }: RecordOf<'tool.start'>): void {
    if (childId !== undefined && !this.#children.includes(childId)) this.#children.push(childId)
    this.#setCall(callId, { status: 'running', key, ...(childId === undefined ? {} : { childId }) })
  }

  #startTurn({ turnIndex: index, time }: RecordOf<'turn.start'>): void {
    if (this.#run === undefined) return
    const input = this.#input
    this.#input = []
    this.#failed = 0
    this.#turn = {
      index,
      status: 'running',
      startedAt: time,
      input,
      toolCalls: [],
      attempts: 1,
      usage: noUsage,
      costUsd: 0,
      changes: [],
    }
    this.#run.turns.push(this.#turn)
  }

  #endTurn({ usage, costUsd, time }: RecordOf<'turn.end'>): void {
    const turn = this.#turn
    if (turn === undefined) return
    turn.status = 'completed'
    turn.endedAt = time
    turn.usage = larger(turn.usage, usage)
    turn.costUsd = Math.max(turn.costUsd, costUsd)
    this.#turn = undefined
  }

  #addInput(input: TurnInput): void {
    if (this.#turn === undefined) this.#input.push(input)
    else this.#turn.input = [...this.#turn.input, input]
  }

  #reply({ nodeId, message, costUsd }: RecordOf<'reply.end'>): void {
    this.#spend(message.usage, costUsd)
    const turn = this.#turn
    if (turn === undefined) return
    turn.reply = nodeId
    turn.attempts = this.#failed + 1
    for (const { callId, name } of toolCallsOf(message.content)) {
      const call: CallDraft = { callId, name, status: 'pending' }
      turn.toolCalls.push(call)
      this.#calls.set(callId, { call, turn })
    }
  }

  #failReply({ attempt, retryAt, usage, costUsd, next }: RecordOf<'reply.reset'>): void {
    if (usage !== undefined) this.#spend(usage, costUsd ?? 0)
    if (this.#turn === undefined) return
    this.#failed = attempt
    this.#turn.attempts = retryAt === undefined && next === undefined ? attempt : attempt + 1
  }

  #setCall(callId: string, change: Partial<CallDraft>): void {
    const open = this.#calls.get(callId)
    if (open !== undefined) Object.assign(open.call, change)
  }

  #endCall({ callId, key, nodeId, message, spent }: RecordOf<'tool.end'>): void {
    // What a sub-agent used counts for the run that it answers, as in the machine; the end of the run has it anyway.
    if (spent !== undefined && this.#run !== undefined) this.#spend(spent.usage, spent.costUsd)
    const turn = this.#calls.get(callId)?.turn
    const synthetic = message.synthetic === undefined ? {} : { synthetic: message.synthetic }
    this.#setCall(callId, { status: 'ended', key, isError: message.isError, ...synthetic, nodeId })
    this.#calls.delete(callId)
    if (turn?.status !== 'paused' || !isAnswered(turn)) return
    // A call that outlived a pause has brought what its turn still owed.
    turn.status = turn.toolCalls.some((call) => call.synthetic === 'aborted') ? 'aborted' : 'completed'
  }

  #change(record: Reshaping): void {
    if ('usage' in record && record.usage !== undefined) this.#spend(record.usage, record.costUsd ?? 0)
    ;(this.#turn?.changes ?? this.#changes).push(trunkChangeOf(record, this.#planned))
  }

  #spend(usage: Usage, costUsd: number): void {
    if (this.#run === undefined) {
      this.#usageAtRest = addUsage(this.#usageAtRest, usage)
      this.#costAtRest += costUsd
    }
    for (const payer of [this.#run, this.#turn]) {
      if (payer === undefined) continue
      payer.usage = addUsage(payer.usage, usage)
      payer.costUsd += costUsd
    }
  }
}

type Changing = RecordOf<keyof typeof brakeWords.change>
const isOfBrake = (record: LogRecord): record is Changing => Object.hasOwn(brakeWords.change, record.type)

type Reshaping = RecordOf<'revert.applied' | 'prune.applied' | 'compaction.end'> | Changing

/** Returns a short description of how a record reshaped the trunk. Pure. */
function trunkChangeOf(record: Reshaping, planned: ReadonlyMap<string, string>): TrunkChange {
  const { applied } = record
  const rest = {
    ...(record.economics === undefined ? {} : { economics: record.economics }),
    ...(record.reason === undefined ? {} : { reason: record.reason }),
  }
  switch (record.type) {
    case 'revert.applied': {
      const { category, target, rebased = [] } = record
      const policy = planned.get(record.id)
      return {
        type: 'revert',
        applied,
        category,
        ...(target === undefined ? {} : { target }),
        ...(rebased.length === 0 ? {} : { rebased: rebased.map(({ nodeId }) => nodeId) }),
        ...(policy === undefined ? {} : { policy }),
        ...rest,
      }
    }
    default: {
      const { type, ...what } = brakeWords.change[record.type](record)
      return { type, applied, ...what, ...rest }
    }
    case 'prune.applied': {
      const { steps, tokens, masked, shown, policy } = record
      const how = { ...(masked === true ? { masked } : {}), ...(shown === true ? { shown } : {}) }
      const by = policy === undefined ? {} : { policy }
      return { type: 'prune', applied, steps: [...steps], tokens, ...how, ...by, ...rest }
    }
    case 'compaction.end': {
      const { overlay, tokensBefore, tokensAfter } = record
      const span = overlay === undefined ? {} : { nodeId: overlay.nodeId, from: overlay.from, to: overlay.to }
      return { type: 'compaction', applied, ...span, tokensBefore, tokensAfter, ...rest }
    }
  }
}

/** Returns the session that a log, or the beginning of one, describes. Pure; never throws on valid records. */
export function sessionOf(records: Iterable<LogRecord>): Session {
  const projection = new SessionProjection()
  for (const record of records) projection.apply(record)
  return projection.session
}
