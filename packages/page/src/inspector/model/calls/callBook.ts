import { WorkTimes, type Took } from '../../../../../charts/src/workTimes.ts'
import type { AgentEvent } from '../../../../../../src/protocol/events.ts'
import type { NodeId } from '../../../../../../src/protocol/ids.ts'
import type { ToolCallBlock, ToolResultMessage } from '../../../../../../src/protocol/messages.ts'
import { toolCallsOf } from '../../../../../../src/protocol/text/messageText.ts'
import { movedCall, movesCall } from '../../../../../../src/log/callStage.ts'
import type { LogRecord, RecordOf } from '../../../../../../src/protocol/records.ts'
import type { DataApart } from '../../../../../../src/protocol/resultData.ts'
import { linesAbout } from '../../../../../words/src/parts/partLines.ts'
import { eventText } from '../events/eventWords.ts'
import { statusAfter, type ShownStatus } from './callStatus.ts'

/** A tool call with everything that a log says about it. Times are in epoch milliseconds. */
export interface KnownCall {
  readonly callId: string
  readonly name: string
  /** Input as the model gave it. */
  readonly input: unknown
  /** Input that the call ran with. Set only if a hook or a person changed it. */
  readonly ranWith?: { readonly input: unknown }
  /** Node of the reply that asked for the call. */
  readonly reply: NodeId
  readonly status: ShownStatus
  readonly askedAt: number
  readonly startedAt?: number
  readonly endedAt?: number
  /** Time that the call took; set only if it has ended and its beginning was seen. */
  readonly took?: Took
  /** Actions of the call while it ran, such as the calls of a script, oldest first. */
  readonly doings?: readonly Doing[]
  readonly result?: { readonly node: NodeId; readonly message: ToolResultMessage; readonly data?: CallData }
}

/** An action of a call while it ran. */
export interface Doing {
  readonly seq: number
  readonly time: number
  readonly text: string
  /** Id of the sub-agent that was called. */
  readonly childId?: string
}

/** Data of a result for the application. */
export type CallData = { readonly json: unknown } | { readonly apart: DataApart }

type Draft = { -readonly [K in keyof KnownCall]: KnownCall[K] }

/** Finds calls by their replies and results. A fold of a log: reads each record once, as long as the requested moments get later. */
export class CallBook {
  readonly #byReply = new Map<NodeId, Draft[]>()
  readonly #byResult = new Map<NodeId, Draft>()
  /** Calls without a result, by `callId`. Providers reuse ids of calls: the entry is the newest call. */
  readonly #open = new Map<string, Draft>()
  readonly #times = new WorkTimes()

  take(record: LogRecord): void {
    const took = this.#times.take(record as AgentEvent)
    switch (record.type) {
      case 'reply.end':
        return this.#ask(record.nodeId, toolCallsOf(record.message.content), record.time)
      case 'tool.start':
        return this.#set(record.callId, {
          status: statusAfter(record),
          startedAt: record.time,
          ...(record.edited === true ? { ranWith: { input: record.input } } : {}),
        })
      case 'tool.end': {
        const { callId, nodeId, message, time } = record
        const call = this.#open.get(callId)
        if (call === undefined) return
        this.#open.delete(callId)
        const result = { node: nodeId, message, ...dataIn(record) }
        Object.assign(call, { status: statusAfter(record), endedAt: time, result })
        if (took !== undefined && call.startedAt !== undefined) call.took = took
        this.#byResult.set(nodeId, call)
        return
      }
      default:
        if (linesAbout(record) !== undefined && 'callId' in record) this.#note(record.callId, record)
        else if (movesCall(record)) this.#set(movedCall(record), { status: statusAfter(record) })
    }
  }

  #note(callId: string, record: LogRecord): void {
    const call = this.#open.get(callId)
    if (call === undefined) return
    const { seq, time } = record
    const child = record.type === 'inner.start' && record.childId !== undefined ? { childId: record.childId } : {}
    call.doings = [...(call.doings ?? []), { seq, time, text: eventText(record as AgentEvent), ...child }]
  }

  /** Returns a call of the reply at a node. */
  ofReply(node: NodeId, callId: string): KnownCall | undefined {
    return this.#byReply.get(node)?.find((call) => call.callId === callId)
  }

  /** Returns the call whose result is at a node. */
  ofResult(node: NodeId): KnownCall | undefined {
    return this.#byResult.get(node)
  }

  #ask(reply: NodeId, calls: readonly ToolCallBlock[], askedAt: number): void {
    const drafts = calls.map(({ callId, name, input }): Draft => ({
      callId,
      name,
      input,
      reply,
      status: 'pending',
      askedAt,
    }))
    if (drafts.length > 0) this.#byReply.set(reply, drafts)
    for (const draft of drafts) this.#open.set(draft.callId, draft)
  }

  #set(callId: string, change: Partial<Draft>): void {
    const call = this.#open.get(callId)
    if (call !== undefined) Object.assign(call, change)
  }
}

const dataIn = ({ data, dataApart }: RecordOf<'tool.end'>): { readonly data?: CallData } =>
  dataApart !== undefined ? { data: { apart: dataApart } } : data === undefined ? {} : { data: { json: data } }

const noPast: readonly never[] = []

/** Keeps the calls of a log at one moment, and advances them to later moments. */
export class CallBooks {
  #book = new CallBook()
  #records: readonly LogRecord[] | undefined
  #past: readonly (readonly LogRecord[])[] | undefined
  #end = 0

  /** Returns the calls after the first `end` records. `past`: records that a fork shares. An earlier moment or another log starts over. */
  at(records: readonly LogRecord[], end: number, past: readonly (readonly LogRecord[])[] = noPast): CallBook {
    if (records !== this.#records || past !== this.#past || end < this.#end) {
      this.#book = new CallBook()
      this.#records = records
      this.#past = past
      this.#end = 0
      for (const record of past.flat()) this.#book.take(record)
    }
    for (; this.#end < Math.min(end, records.length); this.#end += 1) this.#book.take(records[this.#end]!)
    return this.#book
  }
}
