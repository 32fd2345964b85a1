import { eventOf } from '../../../src/protocol/events.ts'
import type { LogRecord } from '../../../src/protocol/records.ts'
import type { AppState } from '../../bridge/src/client/fold/foldAppState.ts'
import type { Exchange } from './exchange.ts'
import { wholeState } from './stateParts.ts'
import { UiFold } from './uiFold.ts'
import type { UiMessage } from './uiTypes.ts'

/**
 * Converts the records of an agent to `messages` of `useChat`: the same messages as those of a client that saw the whole conversation live.
 * A reply that is still being written has only its recorded part. Messages that were later abandoned or hidden from the model are included.
 * A message that a guard refused is replaced by a line, which the client that sent the message has only after loading again.
 *
 * @param below Records of agents below it, by their ids: for what these asked people.
 *
 * @example
 * ```ts
 * import { uiMessages } from 'escapement/ai-sdk'
 *
 * const agent = await runtime.spawn(coder)
 * await agent.prompt('Fix the failing test').result
 * const records = []
 * for await (const record of agent.readLog()) records.push(record)
 * const messages = uiMessages(records)
 * ```
 */
export function uiMessages(
  records: readonly LogRecord[],
  below: ReadonlyMap<string, readonly LogRecord[]> = new Map(),
): UiMessage[] {
  return exchangesOf(records, below).flatMap(messagesOf)
}

/** Returns the messages of an exchange: the person's, then the agent's if it has any parts. */
export function messagesOf(exchange: Exchange): UiMessage[] {
  const message = exchange.message()
  return message.parts.length === 0 ? exchange.said : [...exchange.said, message]
}

/** Returns all exchanges of an agent, oldest first. */
export function exchangesOf(
  records: readonly LogRecord[],
  below: ReadonlyMap<string, readonly LogRecord[]>,
): Exchange[] {
  return foldedExchanges(records, below).exchanges
}

/** Returns all exchanges of an agent, oldest first, for a newly loaded page: only the last message contains the state, as it is now. */
export function loadedExchanges(
  records: readonly LogRecord[],
  below: ReadonlyMap<string, readonly LogRecord[]>,
): Exchange[] {
  const { exchanges, state } = foldedExchanges(records, below)
  for (const exchange of exchanges) exchange.stateParts = []
  const last = exchanges.findLast((exchange) => exchange.message().parts.length > 0)
  if (last !== undefined && state !== undefined) last.stateParts = wholeState(state)
  return exchanges
}

function foldedExchanges(
  records: readonly LogRecord[],
  below: ReadonlyMap<string, readonly LogRecord[]>,
): { readonly exchanges: Exchange[]; readonly state: AppState | undefined } {
  const exchanges: Exchange[] = []
  const created = records.find((record) => record.type === 'agent.created')
  const fold = new UiFold(created?.agentId ?? '', exchanges)
  takeRecords(fold, records, below)
  const newest = fold.exchange === undefined ? [] : [fold.exchange]
  return { exchanges: [...exchanges, ...newest], state: fold.state }
}

/** The log of an agent below, with the position up to which it was taken. */
interface LogBelow {
  readonly origin: { readonly agentId: string; readonly path: readonly string[] }
  readonly log: readonly LogRecord[]
  next: number
}

const nextTime = ({ log, next }: LogBelow): number => log[next]?.time ?? Infinity

/**
 * Gives a fold the records of an agent and of those below it, in the order of their times; those of one agent stay in theirs. At the same
 * time, the agent's records come first, but the end of a call comes after all records of the work for it.
 */
export function takeRecords(
  fold: UiFold,
  records: readonly LogRecord[],
  below: ReadonlyMap<string, readonly LogRecord[]>,
): void {
  const logs = [...below].map(([agentId, log]): LogBelow => {
    const created = log.find((record) => record.type === 'agent.created')
    return { origin: { agentId, path: created?.path ?? [] }, log, next: 0 }
  })
  const takeBefore = (time: number, of: readonly LogBelow[]): void => {
    for (;;) {
      const [first, ...others] = of
      if (first === undefined) return
      const oldest = others.reduce((a, b) => (nextTime(b) < nextTime(a) ? b : a), first)
      if (nextTime(oldest) >= time) return
      fold.take(eventOf(oldest.log[oldest.next]!, oldest.origin))
      oldest.next += 1
    }
  }
  const children = new Map<string, string>()
  for (const record of records) {
    takeBefore(record.time, logs)
    if (record.type === 'tool.start' && record.childId !== undefined) children.set(record.callId, record.childId)
    const childId = record.type === 'tool.end' ? children.get(record.callId) : undefined
    if (childId !== undefined)
      takeBefore(
        record.time + 1,
        logs.filter(({ origin }) => origin.agentId === childId || origin.path.includes(childId)),
      )
    fold.take(eventOf(record, { agentId: fold.agentId, path: [] }))
  }
  takeBefore(Infinity, logs)
}

/** Returns the ids of the agents that an agent's records say it called or spawned. */
export const childrenIn = (records: readonly LogRecord[]): string[] => [
  ...new Set(
    records.flatMap((record) =>
      record.type === 'child.spawned' || record.type === 'tool.start' ? (record.childId ?? []) : [],
    ),
  ),
]
