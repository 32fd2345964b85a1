import { damaged, tooNew } from './fileProblem.ts'
import type { LogRecord } from '../../../../src/protocol/records.ts'
import { RuntimeError } from '../../../../src/protocol/errors.ts'
import { fromBase64 } from '../../../../src/protocol/text/fromBase64.ts'
import { parseRecord } from '../../../../src/protocol/upgradeRecord.ts'
import { takeKept } from '../../../sessions/src/exportLines.ts'
import { packedSchema, pagesVersion, type PageLine } from '../sessionPages/sessionFile.ts'

/** Content of a session's file. */
export interface UnpackedSession {
  readonly logs: ReadonlyMap<string, readonly LogRecord[]>
  /** Bytes in base64 of the data that results keep beside the logs, by `keptKey`. */
  readonly kept: ReadonlyMap<string, string>
}

/**
 * Reads the content of a session's file.
 *
 * @throws FileProblem `LOG_CORRUPT`, `LOG_VERSION`, naming the file
 */
export async function unpackSession(file: string, given: unknown): Promise<UnpackedSession> {
  const packed = packedSchema.safeParse(given)
  if (!packed.success) throw damaged(file)
  if (packed.data.version > pagesVersion) throw tooNew(file)
  const text = await inflated(packed.data.data).catch((thrown: unknown) => {
    throw damaged(file, thrown)
  })
  const logs = new Map<string, LogRecord[]>()
  const kept = new Map<string, string>()
  for (const line of text.split('\n')) {
    if (line === '') continue
    const read = lineIn(file, line)
    if ('record' in read) {
      const { agentId, record } = read
      const log = logs.get(agentId) ?? []
      log.push(recordIn(file, record, log.length + 1))
      logs.set(agentId, log)
    } else takeKept(read, kept)
  }
  return { logs, kept }
}

async function inflated(base64: string): Promise<string> {
  const bytes = fromBase64(base64)
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate-raw'))
  return await new Response(stream).text()
}

function lineIn(file: string, line: string): PageLine {
  try {
    return JSON.parse(line) as PageLine
  } catch (thrown) {
    throw damaged(file, thrown)
  }
}

function recordIn(file: string, value: unknown, seq: number): LogRecord {
  try {
    const record = parseRecord(value)
    if (record.seq === seq) return record
  } catch (thrown) {
    if (thrown instanceof RuntimeError && thrown.code === 'LOG_VERSION') throw tooNew(file)
    throw damaged(file, thrown)
  }
  throw damaged(file)
}
