import { eventOf } from '../../protocol/events.ts'
import type { LogRecord } from '../../protocol/records.ts'
import type { Exchange } from './exchange.ts'
import { UiFold } from './uiFold.ts'
import type { UiMessage } from './uiTypes.ts'

/**
 * The conversation of an agent as `messages` of `useChat`, from its records: what a client has that saw all of it live. Of a reply that
 * is under way only what is recorded. What was abandoned or hidden from the model since is there too. What a
 * guard refused has a line in its place, which a client that said it has only once it has loaded anew.
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

/** What was said, and what came of it, if anything did. */
export function messagesOf(exchange: Exchange): UiMessage[] {
  const message = exchange.message()
  return message.parts.length === 0 ? exchange.said : [...exchange.said, message]
}

/** All exchanges of an agent, oldest first. */
export function exchangesOf(
  records: readonly LogRecord[],
  below: ReadonlyMap<string, readonly LogRecord[]>,
): Exchange[] {
  const exchanges: Exchange[] = []
  const created = records.find((record) => record.type === 'agent.created')
  const fold = new UiFold(created?.agentId ?? '', exchanges)
  takeRecords(fold, records, below)
  return fold.exchange === undefined ? exchanges : [...exchanges, fold.exchange]
}

/** The log of an agent below, as far as it is not taken yet. */
interface LogBelow {
  readonly origin: { readonly agentId: string; readonly path: readonly string[] }
  readonly log: readonly LogRecord[]
  next: number
}

const nextTime = ({ log, next }: LogBelow): number => log[next]?.time ?? Infinity

/**
 * Gives a fold the records of an agent and of those below it, in the order of their times; those of one agent stay in theirs. Of the same
 * time those of the agent are first, but the end of a call comes after all that was done for it.
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

/** Ids of the agents that an agent's records say it called or spawned. */
export const childrenIn = (records: readonly LogRecord[]): string[] => [
  ...new Set(
    records.flatMap((record) =>
      record.type === 'child.spawned' || record.type === 'tool.start' ? (record.childId ?? []) : [],
    ),
  ),
]
