import { z } from 'zod'
import type { LogRecord } from '../../../../src/protocol/records.ts'
import type { ToolResultMessage } from '../../../../src/protocol/messages.ts'
import { textOf } from '../../../../src/protocol/text/messageText.ts'
import { lazily } from '../../../../src/protocol/lazily.ts'

/** Returns the content that a store keeps under a SHA-256; `undefined` if there is none. */
export type Kept = (id: string) => Promise<Uint8Array | undefined>

/** A change that a successful call made to a file. */
interface Change {
  readonly name: string
  readonly path: string
  readonly input: Readonly<Record<string, unknown>>
  readonly message: ToolResultMessage
}

const receiptSchema = lazily(() =>
  z.object({ path: z.string(), before: z.string().nullable(), after: z.string().nullable() }),
)

/** Files of a workspace before a conversation, with their whole contents, including secrets. */
export interface FilesBefore {
  readonly files: ReadonlyMap<string, Buffer>
  /** Paths of files whose earlier content is unknown; `files` has their current content. */
  readonly unknown: readonly string[]
  /** Number of commands that were run. Their changes are not undone. */
  readonly commands: number
}

/**
 * Undoes the changes that a conversation's calls made to the files of a workspace, the newest first: from a file's kept content, by
 * reversing an edit, or from an earlier reading of the file.
 */
export async function filesBefore(
  files: ReadonlyMap<string, Buffer>,
  records: readonly LogRecord[],
  kept: Kept,
): Promise<FilesBefore> {
  const before = new Map(files)
  const stay = new Set<string>()
  const { changes, read, commands } = changesIn(records)
  for (const [at, change] of [...changes.entries()].toReversed()) {
    if (stay.has(change.path)) continue
    const content = await contentBefore(change, before.get(change.path), { kept, read: read[at]! })
    if (content === undefined) stay.add(change.path)
    else if (content === null) before.delete(change.path)
    else before.set(change.path, content)
  }
  return { files: before, unknown: [...stay], commands }
}

interface Changes {
  readonly changes: readonly Change[]
  /** For each change, the text of whole files as last read before it, by path. */
  readonly read: readonly ReadonlyMap<string, string>[]
  readonly commands: number
}

/** Collects the changes made by calls of all branches, in order: a revert does not restore files unless it says so. */
function changesIn(records: readonly LogRecord[]): Changes {
  const inputs = new Map<string, Readonly<Record<string, unknown>>>()
  const changes: Change[] = []
  const read: ReadonlyMap<string, string>[] = []
  let last: ReadonlyMap<string, string> = new Map()
  let commands = 0
  for (const record of records) {
    if (record.type === 'reply.end')
      for (const block of record.message.content)
        if (block.type === 'toolCall')
          inputs.set(block.callId, (block.input ?? {}) as Readonly<Record<string, unknown>>)
    if (record.type !== 'tool.end' || record.message.isError || record.message.synthetic !== undefined) continue
    const input = inputs.get(record.callId) ?? {}
    const path = pathOf(input)
    if (record.name === 'run_command') commands += 1
    if (path === undefined) continue
    if (record.name === 'read_file') {
      const text = textOf(record.message.content)
      if (!text.startsWith('[lines ')) last = new Map(last).set(path, text)
    }
    if (!changing.has(record.name)) continue
    changes.push({ name: record.name, path, input, message: record.message })
    read.push(last)
    last = new Map([...last].filter(([known]) => known !== path))
  }
  return { changes, read, commands }
}

const changing: ReadonlySet<string> = new Set(['write_file', 'edit_file', 'delete_file'])

/** Returns a call's path as the workspace names it, without `./`; `undefined` for a path outside the workspace. Pure. */
export function pathOf(input: Readonly<Record<string, unknown>>): string | undefined {
  const { path } = input
  if (typeof path !== 'string') return undefined
  const parts = path.split('/').filter((part) => part !== '' && part !== '.')
  return path.startsWith('/') || parts.includes('..') || parts.length === 0 ? undefined : parts.join('/')
}

/** Returns the content of a file before a change: `null` if there was no file, `undefined` if the content is unknown. */
async function contentBefore(
  { name, input, message, path }: Change,
  now: Buffer | undefined,
  { kept, read }: { readonly kept: Kept; readonly read: ReadonlyMap<string, string> },
): Promise<Buffer | null | undefined> {
  const receipt = receiptSchema().safeParse(message.receipt?.data)
  if (receipt.success) {
    if (receipt.data.before === null) return null
    const bytes = await kept(receipt.data.before)
    if (bytes !== undefined) return Buffer.from(bytes)
  }
  if (name === 'write_file' && textOf(message.content).startsWith('Created ')) return null
  if (name === 'edit_file') {
    const { oldText, newText } = input
    const text = now?.toString('utf8')
    const isOnce =
      typeof oldText === 'string' &&
      typeof newText === 'string' &&
      newText !== '' &&
      input['all'] !== true &&
      text?.split(newText).length === 2
    if (isOnce) return Buffer.from(text.split(newText).join(oldText))
  }
  const seen = read.get(path)
  return seen === undefined ? undefined : Buffer.from(seen)
}
