import {
  RequestError,
  type CreateTerminalRequest,
  type ReadTextFileRequest,
  type WriteTextFileRequest,
} from '@agentclientprotocol/sdk'
import type { RemoteHost, RemoteRequest } from '../../../remote/src/remoteAgent.ts'
import { messageOf } from '../../../../src/protocol/errors.ts'
import { cutMiddle } from '../../../../src/protocol/text/cutMiddle.ts'
import { lexicalPath } from '../../../tools/src/workspace/paths.ts'
import { keepFile, type FileReceipt } from '../../../tools/src/workspace/fileReceipt.ts'
import type { Workspace } from '../../../tools/src/workspace/port.ts'
import { inTurn } from '../../../tools/src/workspace/workspaceUse.ts'
import { requestOf } from './askPeople.ts'
import { shellLine } from './shellLine.ts'
import { Terminals } from './terminals.ts'
import type { KeptDeed } from './undoWrites.ts'

/** Maximum size of a file that is read or written, in bytes. */
const mostBytes = 16 * 1024 * 1024
/** Maximum length of the content shown to people, in characters. */
const mostShown = 20_000

interface Asking {
  readonly agent: string
  readonly host: RemoteHost
  readonly workspace: Workspace
  /** True if the previous contents of files are kept. */
  readonly isKept: boolean
  /** True while a call that people have allowed covers such a request. */
  isAllowed(kind: 'edit' | 'execute'): boolean
}

/** Handles a foreign agent's requests for files and commands of the caller's workspace. */
export class WorkspaceRequests {
  readonly #asking: Asking
  readonly #terminals: Terminals

  constructor(asking: Asking) {
    this.#asking = asking
    this.#terminals = new Terminals(asking.workspace)
  }

  async read({ path, line, limit }: ReadTextFileRequest): Promise<{ content: string }> {
    const { host, workspace, agent } = this.#asking
    const spelled = this.#spell(path)
    await this.#permit({ ...requestOf(agent, 'read', { path: spelled }, { path: spelled }), asks: 'by rule' })
    const file = await this.#done(workspace.read(spelled, { signal: host.signal, maxBytes: mostBytes }))
    if (file === null) throw RequestError.resourceNotFound(path)
    if (file.size > mostBytes) throw refusal(`${spelled} has ${file.size} bytes, more than ${mostBytes}.`)
    const text = new TextDecoder().decode(file.bytes)
    if (line == null && limit == null) return { content: text }
    const from = Math.max(0, (line ?? 1) - 1)
    const lines = text.split('\n').slice(from, limit == null ? undefined : from + limit)
    return { content: lines.join('\n') }
  }

  async write({ path, content }: WriteTextFileRequest): Promise<Record<string, never>> {
    const { host, workspace, agent } = this.#asking
    const spelled = this.#spell(path)
    const bytes = new TextEncoder().encode(content)
    if (bytes.length > mostBytes) throw refusal(`${spelled} would have ${bytes.length} bytes, more than ${mostBytes}.`)
    const input = { path: spelled, content: cutMiddle(content, mostShown) }
    await this.#permit({ ...requestOf(agent, 'edit', input, { path: spelled }), asks: this.#asks('edit') })
    host.changed(spelled)
    await this.#done(inTurn(workspace, spelled, () => this.#write(spelled, bytes)))
    return {}
  }

  async createTerminal(request: CreateTerminalRequest): Promise<{ terminalId: string }> {
    const { agent } = this.#asking
    const { command, args = [], cwd } = request
    const line = args.length === 0 ? command : shellLine([command, ...args])
    const spelled = cwd == null ? '.' : this.#spell(cwd, 'folder')
    const input = { command: line, ...(spelled === '.' ? {} : { cwd: spelled }) }
    await this.#permit({ ...requestOf(agent, 'execute', input, { command: line }), asks: this.#asks('execute') })
    if (this.#asking.isKept) this.#asking.host.keep({ did: line } satisfies KeptDeed)
    return { terminalId: this.#terminals.create(line, { ...request, cwd: spelled }) }
  }

  get terminals(): Terminals {
    return this.#terminals
  }

  /** Returns a path as rules spell it. `undefined` if it is outside the workspace. */
  spelled(path: string): string | undefined {
    try {
      return this.#spelling(path, 'file')
    } catch {
      return undefined
    }
  }

  async #write(path: string, bytes: Uint8Array): Promise<void> {
    const { host, workspace, isKept } = this.#asking
    const { signal, snapshots } = host
    const keep = (write: FileReceipt): void => host.keep({ write } satisfies KeptDeed)
    if (isKept) await keepFile(workspace, { path, after: bytes }, { signal, snapshots, keep })
    await workspace.write(path, bytes, { signal })
  }

  #asks(kind: 'edit' | 'execute'): RemoteRequest['asks'] & string {
    return this.#asking.isAllowed(kind) ? 'never' : 'always'
  }

  #spelling(path: string, of: 'file' | 'folder'): string {
    const { workspace } = this.#asking
    return workspace.spell?.(path, of) ?? lexicalPath(workspace.root, path)
  }

  #spell(path: string, of: 'file' | 'folder' = 'file'): string {
    try {
      return this.#spelling(path, of)
    } catch (thrown) {
      throw this.#refused(thrown)
    }
  }

  async #permit(request: RemoteRequest): Promise<void> {
    const permission = await this.#asking.host.permit(request)
    if (!permission.ok) throw refusal(`Not permitted. ${permission.reason}`)
  }

  async #done<T>(work: Promise<T>): Promise<T> {
    try {
      return await work
    } catch (thrown) {
      throw this.#refused(thrown)
    }
  }

  /** Tells people what it asked for, and the agent why not. */
  #refused(thrown: unknown): RequestError {
    const message = messageOf(thrown)
    this.#asking.host.update('status', `Refused: ${message}`)
    return refusal(message)
  }
}

const refusal = (message: string): RequestError => new RequestError(-32_602, message)
