import { constants } from 'node:fs'
import { chmod, open, rename, stat } from 'node:fs/promises'
import { hasCode } from '../../../../../src/protocol/errors.ts'
import { lockFile } from '../../../../stores/src/lockFile.ts'
import { isKept, mostEntries } from './history.ts'
import { namingNone } from './pastes.ts'

/** Size in bytes above which a new file is begun. Only the file before it is kept. */
const mostBytes = 256 * 1024
/** Maximum length of a kept text. */
const longestKept = 32 * 1024

/** Texts typed at terminals in a folder, across runs. */
export interface InputHistory {
  /** Reads the kept texts, the newest last. In texts that name no files, every `@` is marked as by `namingNone`. Rejects with file errors. */
  read(): Promise<string[]>
  /** Keeps a text. `namesNone`: its `@` do not name files when it is recalled. Rejects with file errors. */
  keep(text: string, namesNone?: boolean): Promise<void>
}

/** Flags for opening the file, which only its owner can read. Links are not followed, since someone else's folder may contain one. */
const flags = constants.O_APPEND | constants.O_CREAT | constants.O_RDWR | (constants.O_NOFOLLOW ?? 0)
const mode = 0o600

/**
 * Keeps typed texts in a file, one JSON text per line. Processes may share it: each line is appended in one write, and a full file is moved aside
 * as a whole, so that no line is lost. Invalid lines are skipped. `clean` removes secrets.
 */
export function historyFile(path: string, clean: (text: string) => string = (text) => text): InputHistory {
  let last = Promise.resolve()
  const older = `${path}.old`
  const append = async (line: string): Promise<void> => {
    const file = await open(path, flags, mode)
    try {
      const { size } = await file.stat()
      // Of a process that died while it wrote.
      const isTorn = size > 0 && (await file.read(Buffer.alloc(1), 0, 1, size - 1)).buffer.toString() !== '\n'
      await file.write(`${isTorn ? '\n' : ''}${line}\n`)
      if (size < mostBytes) return
    } finally {
      await file.close()
    }
    await putAside(path, older)
  }
  return {
    async read() {
      const texts = (await Promise.all([older, path].map(linesOf))).flat().flatMap(textIn)
      return texts.filter((text, index) => text !== texts[index - 1]).slice(-mostEntries)
    },
    keep(text, namesNone = false) {
      if (!isKept(text) || text.length > longestKept) return Promise.resolve()
      const kept = last.then(() =>
        append(JSON.stringify({ text: clean(text), ...(namesNone ? { pasted: true } : {}) })),
      )
      last = kept.catch(() => {})
      return kept
    },
  }
}

/** Moves a full file aside. If two processes try, one succeeds. */
async function putAside(path: string, older: string): Promise<void> {
  const lock = await lockFile(`${path}.lock`).catch(() => undefined)
  if (lock === undefined) return
  try {
    const size = await stat(path).then(
      (info) => info.size,
      // Another process has put it aside just now.
      () => 0,
    )
    if (size >= mostBytes) await rename(path, older)
  } finally {
    await lock.release()
  }
}

/** Returns the lines of a file, or of its end if it is long; none if it is missing or not a regular file. */
async function linesOf(path: string): Promise<string[]> {
  try {
    // Opening a pipe would wait for who writes it.
    if (!(await stat(path)).isFile()) return []
    const file = await open(path, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0))
    try {
      const { size } = await file.stat()
      await chmod(path, mode).catch(() => {})
      const length = Math.min(size, 2 * mostBytes)
      const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, size - length)
      return buffer.toString('utf8', 0, bytesRead).split('\n')
    } finally {
      await file.close()
    }
  } catch (thrown) {
    if (hasCode(thrown, 'ENOENT')) return []
    throw thrown
  }
}

function textIn(line: string): string[] {
  try {
    const { text, pasted } = JSON.parse(line) as { text?: unknown; pasted?: unknown }
    if (typeof text !== 'string' || !isKept(text)) return []
    return [pasted === true ? namingNone(text) : text]
  } catch {
    return []
  }
}
