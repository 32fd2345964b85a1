import type { AgentEvent } from '../protocol/events.ts'
import type { Logger } from '../protocol/logger.ts'
import type { StoreLease } from '../protocol/store.ts'
import { narrate, type Narration } from './narrate.ts'

/** Writes what is told of an event, if anything. Throws what the logger throws; a promise it returns may reject. */
export function logEvent(logger: Logger, event: AgentEvent): void {
  const told = narrate(event)
  if (told !== undefined) write(logger, told)
}

/** Tells of a log that had to be repaired when it was opened; nothing of one that was whole. Throws as `logEvent` does. */
export function logRepair(logger: Logger, { agentId, repairedBytes, lastSeq }: StoreLease): void {
  if (repairedBytes === 0) return
  const message = `log repaired: ${repairedBytes} bytes of a torn last line were cut off`
  write(logger, { level: 'warn', message, fields: { agentId, seq: lastSeq, event: 'log.repaired', repairedBytes } })
}

function write(logger: Logger, { level, fields, message }: Narration): void {
  const returned: unknown = logger[level](fields, message)
  if (returned instanceof Promise) returned.catch(() => {})
}
