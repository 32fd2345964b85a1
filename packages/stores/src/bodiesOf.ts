import { RuntimeError } from '../../../src/protocol/errors.ts'
import type { LogRecord } from '../../../src/protocol/records.ts'

/** Maximum size of a body in bytes, the same as for a line of `fileStore`. */
const mostBytes = 256 * 1024 * 1024

/**
 * Returns records as JSON for a table.
 * @throws RuntimeError `RECORD_TOO_LARGE`
 */
export function bodiesOf(agentId: string, records: readonly LogRecord[]): string[] {
  return records.map((record) => {
    const body = JSON.stringify(record)
    // A character takes three bytes at most.
    if (body.length > mostBytes / 3 && Buffer.byteLength(body) > mostBytes)
      throw new RuntimeError(
        'RECORD_TOO_LARGE',
        `Record ${record.seq} of agent "${agentId}" has more than ${mostBytes} bytes.`,
      )
    return body
  })
}
