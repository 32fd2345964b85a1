import { z } from 'zod'
import { lazily } from '../../../src/protocol/lazily.ts'
import { rebuildConversation } from '../../../src/conversation/tree/rebuildConversation.ts'
import { cutEnd } from '../../../src/protocol/text/cutMiddle.ts'
import { describeIssues, messageOf, RuntimeError } from '../../../src/protocol/errors.ts'
import { damagedFile, foreignFormat } from '../../stores/src/foreignFormat.ts'
import { agentIdSchema } from '../../../src/protocol/ids.ts'
import type { LogRecord } from '../../../src/protocol/records.ts'
import { corruptLine, readRecord } from '../../stores/src/readRecord.ts'
import { exportFormat, exportVersion } from './exportLines.ts'
import { artifactField, artifactIn, type ReadArtifact as KeptFile } from './artifacts/importedArtifacts.ts'
import { exportHeaderSchema, type ExportHeader } from './exportSession.ts'

/** One log of an exported session. */
export interface ExportedLog {
  readonly agentId: string
  /** Records from the first on, without a gap. */
  readonly records: readonly LogRecord[]
}

interface PlacedRecord {
  readonly record: LogRecord
  /** Line number, from 1. */
  readonly line: number
}

const file = 'the exported session'
const anyVersionSchema = lazily(() =>
  z.object({ format: exportHeaderSchema().shape.format, version: z.int().positive() }),
)
const lineSchema = lazily(() => artifactField().extend({ agentId: agentIdSchema(), record: z.unknown().optional() }))

export { keepArtifacts as putKept, type ReadArtifact as KeptFile } from './artifacts/importedArtifacts.ts'

/**
 * Reads a whole exported session and checks that it can be resumed: every record is valid and in its place, no source is
 * missing, and everything folds into a conversation. Blank lines are skipped.
 *
 * @throws RuntimeError `FOREIGN_FORMAT`, `LOG_CORRUPT` naming the line, `LOG_VERSION`, `INVALID_OPTION` for anything but text.
 */
export async function readExport(
  pieces: AsyncIterable<string> | Iterable<string>,
): Promise<{ readonly logs: readonly ExportedLog[]; readonly kept: readonly KeptFile[] }> {
  let header: ExportHeader | undefined
  const logs = new Map<string, PlacedRecord[]>()
  const kept: KeptFile[] = []
  let line = 0
  let foreign = ''
  for await (const text of textLines(pieces)) {
    line += 1
    if (text.trim() === '') continue
    if (foreign !== '' || (header === undefined && !isHeader(text))) {
      foreign += `${text}\n`
      if (foreign.length > mostLooked) break
    } else if (header === undefined) {
      header = readHeader(text, line)
      for (const agentId of header.agents) logs.set(agentId, [])
    } else {
      const beside = takeLine(logs, text, line)
      if (beside !== undefined) kept.push(beside)
    }
  }
  if (foreign !== '') throw notExported(foreign)
  if (header === undefined) throw new RuntimeError('LOG_CORRUPT', 'The exported session is empty.')
  checkChain(header.agents, logs)
  checkFold([...logs.values()].flat())
  return {
    logs: [...logs].map(([agentId, placed]) => ({ agentId, records: placed.map(({ record }) => record) })),
    kept,
  }
}

function readHeader(text: string, line: number): ExportHeader {
  const value = valueOf(text)
  const version = anyVersionSchema().safeParse(value).data?.version ?? 0
  if (version > exportVersion) {
    const what = `The exported session has format version ${version}; this is version ${exportVersion}.`
    throw new RuntimeError('LOG_VERSION', what)
  }
  const header = exportHeaderSchema().safeParse(value)
  if (!header.success) throw corruptHeader(line, describeIssues(header.error))
  const { agentId, agents } = header.data
  if (agents.at(-1) !== agentId) throw corruptHeader(line, `agents does not end with "${agentId}"`)
  if (new Set(agents).size < agents.length) throw corruptHeader(line, 'agents names one twice')
  return header.data
}

function valueOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const isHeader = (text: string): boolean =>
  (valueOf(text) as { readonly format?: unknown } | null | undefined)?.format === exportFormat

/** Length of the part of a file that is examined for its format, in UTF-16 units. */
const mostLooked = 64 * 1024

function notExported(text: string): RuntimeError {
  const format = foreignFormat(text)
  if (format === damagedFile) return corruptHeader(1, `its format is not "${exportFormat}"`)
  const seen =
    format === undefined ? `it begins with ${JSON.stringify(cutEnd(text.trim(), 60))}` : `it looks like ${format}`
  return new RuntimeError('FOREIGN_FORMAT', `The file is not an exported session: ${seen}.`)
}

const corruptHeader = (line: number, why: string): RuntimeError =>
  new RuntimeError('LOG_CORRUPT', `Line ${line} of ${file} is not its header: ${why}.`)

/** Adds the record of a line to its log, or returns its artifact. */
function takeLine(logs: ReadonlyMap<string, PlacedRecord[]>, text: string, line: number): KeptFile | undefined {
  const parsed = lineSchema().safeParse(parse(text, line))
  if (!parsed.success) throw corruptLine({ file, line }, describeIssues(parsed.error))
  const { agentId } = parsed.data
  const kept = keptIn(parsed.data, line)
  if (kept !== undefined) return kept
  const log = logs.get(agentId)
  if (log === undefined) throw corruptLine({ file, line }, `agent "${agentId}" is not in the header`)
  const record = readRecord(JSON.stringify(parsed.data.record) ?? '', { file, line })
  if (record instanceof RuntimeError) throw record
  if (record.seq !== log.length + 1)
    throw corruptLine({ file, line }, `its seq is ${record.seq}, not ${log.length + 1}`)
  log.push({ record, line })
  return undefined
}

function keptIn(data: Parameters<typeof artifactIn>[0], line: number): KeptFile | undefined {
  try {
    return artifactIn(data)
  } catch (thrown) {
    throw corruptLine({ file, line }, messageOf(thrown))
  }
}

function parse(text: string, line: number): unknown {
  const value = valueOf(text)
  if (value === undefined) throw corruptLine({ file, line }, 'it is not JSON')
  return value
}

/** Checks that every log begins with its agent's creation, and that every log but the first is a fork of the one before. */
function checkChain(agents: readonly string[], logs: ReadonlyMap<string, readonly PlacedRecord[]>): void {
  agents.forEach((agentId, index) => {
    const first = logs.get(agentId)?.[0]
    if (first === undefined)
      throw new RuntimeError('LOG_CORRUPT', `The exported session has no record of agent "${agentId}".`)
    const { record, line } = first
    if (record.type !== 'agent.created' || record.agentId !== agentId)
      throw corruptLine({ file, line }, `the log of agent "${agentId}" must begin with its agent.created`)
    const source = agents[index - 1]
    if (record.forkedFrom?.agentId === source) return
    const expected = source === undefined ? 'not forked' : `a fork of "${source}"`
    throw corruptLine({ file, line }, `agent "${agentId}" must be ${expected}, as the header says`)
  })
}

function checkFold(placed: readonly PlacedRecord[]): void {
  let line = 0
  const records = function* (): Generator<LogRecord, void, undefined> {
    for (const { record, line: at } of placed) {
      line = at
      yield record
    }
  }
  try {
    rebuildConversation(records())
  } catch (thrown) {
    throw new RuntimeError('LOG_CORRUPT', `Line ${line} of ${file}: ${messageOf(thrown)}`, { cause: thrown })
  }
}

/** Returns true if the text so far is already a whole line: nothing can follow an object. */
function isWhole(begun: readonly string[]): boolean {
  if (begun.at(-1)?.trimEnd().endsWith('}') !== true) return false
  return typeof valueOf(begun.join('')) === 'object'
}

/** Maximum length of a line, in UTF-16 units. A longer line is not one of an exported session. */
const maxLineChars = 256 * 1024 * 1024

/**
 * Splits text that comes in arbitrary pieces into lines without newlines. The last line needs no newline.
 *
 * @throws RuntimeError `INVALID_OPTION` for a piece that is not a string, `LOG_CORRUPT` for a line of more than `maxChars`.
 */
export async function* textLines(
  pieces: AsyncIterable<string> | Iterable<string>,
  maxChars = maxLineChars,
): AsyncGenerator<string, void, undefined> {
  let begun: string[] = []
  let length = 0
  let line = 1
  let isAtStart = true
  const add = (part: string): void => {
    length += part.length
    if (length > maxChars)
      throw new RuntimeError('LOG_CORRUPT', `Line ${line} has more than ${maxChars} characters: it is not a record.`)
    if (part !== '') begun.push(part)
  }
  const end = (): string => {
    const text = begun.join('')
    begun = []
    length = 0
    line += 1
    return text
  }
  if (
    typeof pieces !== 'string' &&
    Object(pieces)[Symbol.asyncIterator] === undefined &&
    Object(pieces)[Symbol.iterator] === undefined
  )
    throw new RuntimeError(
      'INVALID_OPTION',
      `Give the lines of the file, not ${pieces === null ? 'null' : typeof pieces}.`,
    )
  // A string would come apart into its characters.
  for await (const given of typeof pieces === 'string' ? [pieces] : pieces) {
    if (typeof given !== 'string')
      throw new RuntimeError('INVALID_OPTION', 'The lines are to come as text: read the file with encoding "utf8".')
    const piece = isAtStart ? given.replace(/^\uFEFF/, '') : given
    isAtStart &&= given === ''
    // Lines that come without their newlines.
    if (piece.startsWith('{') && isWhole(begun)) yield end()
    let start = 0
    for (let at = piece.indexOf('\n'); at >= 0; at = piece.indexOf('\n', start)) {
      add(piece.slice(start, at))
      start = at + 1
      yield end()
    }
    add(piece.slice(start))
  }
  if (begun.length > 0) yield end()
}
