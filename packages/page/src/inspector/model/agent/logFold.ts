import { Conversation } from '../../../../../../src/conversation/tree/conversation.ts'
import { namesOf, nothingTaken, takenAfter } from '../../../../../../src/conversation/tree/takenTools.ts'
import type { EventOf } from '../../../../../../src/protocol/events.ts'
import type { LogRecord, PauseReason, RecordOf, Spent } from '../../../../../../src/protocol/records.ts'
import { listSchedules, type ListedSchedule } from '../../../../../../src/protocol/parts/schedules/scheduleOptions.ts'
import {
  scheduleState,
  schedulesAfter,
  type SchedulesState,
} from '../../../../../../src/protocol/parts/schedules/scheduleState.ts'
import { machineFold, pauseOf } from '../../../../../sessions/src/machineState.ts'
import { Folding } from '../../../../../../src/log/fold.ts'
import { outlineFold } from '../../../../../../src/log/outline.ts'
import { totalFold, totalSpent } from '../../../../../../src/log/spent.ts'
import type { LastRun } from '../../../../../../src/protocol/runs/lastRun.ts'
import type { TurnUse } from '../../../../../../src/protocol/bridge/turns.ts'
import type { Consultation, RequestView, SourceView } from './agentView.ts'
import { runAfter, type NewestRun } from './newestRun.ts'
import { RequestList } from './requestList.ts'

const folds = [machineFold, outlineFold, totalFold]

/** State of an agent at one moment of its log. Each record costs the same, however long the log is. */
export class LogFold {
  readonly conversation = new Conversation()
  readonly #folding = new Folding(folds)
  readonly #machine = this.#folding.at(machineFold)
  readonly #outline = this.#folding.at(outlineFold)
  readonly #total = this.#folding.at(totalFold)
  readonly #requests = new RequestList()
  readonly #children: string[] = []
  #childCostUsd = 0
  #run: NewestRun | null = null
  /** True if the newest record was imported. */
  #isForeign = false
  #childrenCopy: readonly string[] | undefined
  #created: RecordOf<'agent.created'> | null = null
  #consulting: Consultation | null = null
  #use: TurnUse | null = null
  #taken = nothingTaken
  #schedules: SchedulesState = scheduleState.initial
  #lastSeq = 0

  /** `past`: the records that a fork shares with its source, oldest first. @throws RuntimeError `LOG_CORRUPT` */
  constructor(past: readonly (readonly LogRecord[])[] = []) {
    for (const part of past) {
      for (const record of part) {
        this.#share(record)
        if (record.type === 'turn.captured') this.#requests.capture(record)
      }
    }
  }

  /** `seq` of the last record of the agent's own. */
  get lastSeq(): number {
    return this.#lastSeq
  }

  /** First record of the agent. */
  get created(): RecordOf<'agent.created'> | null {
    return this.#created
  }

  /** Title of the agent; `undefined` before its first prompt. */
  get title(): string | undefined {
    return this.#outline.state.title
  }

  get state(): string {
    return this.#machine.state.state
  }

  get pause(): PauseReason | null {
    return pauseOf(this.#machine.state)
  }

  /** The policy that has fired and not ended. It stays set if the process died in the middle. */
  get consulting(): Consultation | null {
    return this.#consulting
  }

  /** The model, tools and instructions that the agent was told to use. */
  get use(): TurnUse | null {
    return this.#use
  }

  get run(): NewestRun | null {
    return this.#run
  }

  /** End of the newest run, or why it waits; `undefined` while it goes on, which an imported run never does. */
  get last(): LastRun | undefined {
    const { last, activeAt: at = 0 } = this.#outline.state
    if (last !== undefined || this.#run === null) return last
    if (this.#isForeign) return { stopReason: 'aborted', at }
    const { pause: reason } = this
    return reason === null ? undefined : { stopReason: 'paused', at, reason }
  }

  get requests(): readonly RequestView[] {
    return this.#requests.all
  }

  /** Sources that have given the agent tools or instructions. A log does not tell their condition. */
  get sources(): readonly SourceView[] {
    const names = new Set([...this.#taken.tools.values()].map(({ source }) => source))
    return [...names].map((source) => ({ source, tools: namesOf(this.#taken, source) }))
  }

  /** The agent's schedules, the next one first. */
  get schedules(): readonly ListedSchedule[] {
    return listSchedules(this.#schedules.schedules)
  }

  /** Instructions of the sources in the system prompt, by source. */
  get instructions(): ReadonlyMap<string, string> {
    return this.#taken.instructions
  }

  get children(): readonly string[] {
    return (this.#childrenCopy ??= this.#children.slice())
  }

  get spent(): Spent {
    return totalSpent(this.#total.state)
  }

  /** US dollars spent by the agent itself, without sub-agents. */
  get ownCostUsd(): number {
    return Math.max(0, this.spent.costUsd - this.#childCostUsd)
  }

  /** Folds the next record in. @throws RuntimeError `LOG_CORRUPT` when it does not follow. */
  apply(record: LogRecord): void {
    this.#share(record)
    const { costUsd } = this.#total.state.run
    this.#folding.apply(record)
    this.#run = runAfter(this.#run, record, costUsd)
    this.#isForeign = record.foreign === true
    this.#schedules = schedulesAfter(this.#schedules, record)
    if (record.type === 'tool.end' || record.type === 'child.ended') this.#childCostUsd += record.spent?.costUsd ?? 0
    this.#lastSeq = record.seq
    if (record.type === 'agent.created') this.#created = record
    else if (record.type === 'policy.start') this.#consulting = consultationOf(record)
    else if (record.type === 'policy.end' || record.type === 'run.start') this.#consulting = null
    else if (record.type === 'turn.captured') this.#requests.capture(record)
    else if (record.type === 'child.spawned' && record.incognito !== true) this.#addChild(record.childId)
    else if (record.type === 'tool.start' && record.childId !== undefined) this.#addChild(record.childId)
  }

  /** Takes in a request that was seen live. */
  see(event: EventOf<'turn.request'>): void {
    this.#requests.see(event)
  }

  #share(record: LogRecord): void {
    if (record.type === 'agent.created' && record.forkedFrom !== undefined) this.conversation.beginLog()
    this.conversation.apply(record)
    this.#taken = takenAfter(this.#taken, record)
    if (record.type === 'use.changed') this.#use = record.use
    else if (record.type === 'tool.end' && record.handoff !== undefined) this.#use = null
    else if (record.type === 'agent.created' && record.parent !== undefined) this.#use = null
  }

  #addChild(childId: string): void {
    if (this.#children.includes(childId)) return
    this.#children.push(childId)
    this.#childrenCopy = undefined
  }
}

const consultationOf = ({ policy, why, requestId }: RecordOf<'policy.start'>): Consultation => ({
  policy,
  why,
  ...(requestId === undefined ? {} : { requestId }),
})

/** Moves between moments of a log: forward by folding the next records, backward by starting over. */
export class TimeTravel {
  readonly #past: readonly (readonly LogRecord[])[]
  readonly #records: readonly LogRecord[]
  #fold: LogFold | undefined

  /** `records`: the agent's own, which may grow; `past`: those that a fork shares with its source. */
  constructor(records: readonly LogRecord[], past: readonly (readonly LogRecord[])[] = []) {
    this.#records = records
    this.#past = past
  }

  /** Returns the agent after record `seq`; beyond the end, at the end. @throws RuntimeError `LOG_CORRUPT` */
  to(seq: number): LogFold {
    const fold = this.#fold !== undefined && this.#fold.lastSeq <= seq ? this.#fold : new LogFold(this.#past)
    this.#fold = fold
    const end = Math.min(seq, this.#records.length)
    // A log counts from 1 without gaps.
    for (let index = fold.lastSeq; index < end; index++) fold.apply(this.#records[index]!)
    return fold
  }
}
