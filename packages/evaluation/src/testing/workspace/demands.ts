import { setTimeout as pause } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { messageOf } from '../../../../../src/protocol/errors.ts'
import type {
  ExecEnd,
  ExecOptions,
  Workspace,
  WorkspaceCode,
  WorkspaceEntry,
} from '../../../../tools/src/workspace/port.ts'

/** A capability that a kind of workspace lacks. */
export type WorkspaceLack = 'commands' | 'links' | 'modes' | 'groups' | 'streams'

/** A case of the contract: its requirements, and its check. */
export interface Check {
  readonly needs: readonly WorkspaceLack[]
  run(workspace: Workspace): Promise<void>
}
export type Checks = { readonly [name: string]: Check }

export const check = (body: Check['run']): Check => ({ needs: [], run: body })
export const checkWith = (needs: Check['needs'], body: Check['run']): Check => ({ needs, run: body })

export const never: AbortSignal = new AbortController().signal
export const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text)
export const textOf = (bytes: Uint8Array): string => new TextDecoder().decode(bytes)

export const demand = (condition: boolean, rule: string): void => {
  if (!condition) throw new Error(`The workspace breaks its contract: ${rule}`)
}

export function demandEqual(actual: unknown, expected: unknown, rule: string): void {
  const show = (value: unknown): string => (JSON.stringify(value) ?? 'undefined').slice(0, 500)
  demand(isDeepStrictEqual(actual, expected), `${rule}\n  expected ${show(expected)}\n  got      ${show(actual)}`)
}

/** Throws unless work rejects with a code or, for an abort, with the signal's own reason. */
export async function demandRefusal(
  work: () => Promise<unknown>,
  why: WorkspaceCode | { readonly reason: unknown },
  rule: string,
): Promise<void> {
  const thrown = await work().then(
    () => undefined,
    (error: unknown) => ({ error }),
  )
  if (thrown === undefined) return demand(false, `${rule} (it resolved)`)
  const { error } = thrown
  if (typeof why === 'object')
    return demand(
      error === why.reason,
      `${rule} It must reject with the reason of the signal, not: ${messageOf(error)}`,
    )
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  demand(code === why, `${rule} It must reject with ${why}, not ${String(code)}: ${messageOf(error)}`)
}

export const write = (workspace: Workspace, path: string, content: string | Uint8Array): Promise<void> =>
  workspace.write(path, typeof content === 'string' ? bytesOf(content) : content, { signal: never })

export const readBytes = async (workspace: Workspace, path: string): Promise<Uint8Array | null> =>
  (await workspace.read(path, { signal: never, maxBytes: 64 * 1024 * 1024 }))?.bytes ?? null

export const readText = async (workspace: Workspace, path: string): Promise<string | null> => {
  const bytes = await readBytes(workspace, path)
  return bytes === null ? null : textOf(bytes)
}

export async function entriesOf(
  workspace: Workspace,
  path: string,
  options: { readonly deep?: boolean; readonly limit?: number; readonly skip?: ReadonlySet<string> } = {},
): Promise<WorkspaceEntry[]> {
  const { deep = true, limit = 10_000, skip } = options
  const found: WorkspaceEntry[] = []
  const list = workspace.list(path, { signal: never, limit, deep, ...(skip === undefined ? {} : { skip }) })
  for await (const entry of list) found.push(entry)
  return found.toSorted((a, b) => (a.path < b.path ? -1 : 1))
}

export const pathsOf = async (...args: Parameters<typeof entriesOf>): Promise<string[]> =>
  (await entriesOf(...args)).map(({ path }) => path)

export interface Ran extends ExecEnd {
  readonly output: string
  readonly bytes: number
}

export async function run(workspace: Workspace, command: string, options: Partial<ExecOptions> = {}): Promise<Ran> {
  const pieces: Uint8Array[] = []
  const end = await workspace.exec(command, {
    signal: never,
    timeoutMs: 60_000,
    onOutput: (bytes) => void pieces.push(Uint8Array.from(bytes)),
    ...options,
  })
  const all = Buffer.concat(pieces)
  return { ...end, output: all.toString('utf8'), bytes: all.length }
}

/** Waits until a condition holds, for at most the time limit of the test. */
export async function until(holds: () => Promise<boolean>): Promise<void> {
  while (!(await holds())) await pause(20)
}
