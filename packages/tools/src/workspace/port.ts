import { type ErrorCode, RuntimeError } from '../../../../src/protocol/errors.ts'

/**
 * Files and a shell that an agent works with: a folder of this machine, a container, a sandbox elsewhere. `workspaceTools` makes one set of
 * tools over it; line endings, excerpts, redaction, approvals and undo belong to the tools, not to an implementation.
 *
 * Contract: paths are relative to the root, with `/`, or absolute and in it; one with NUL, and one that leads out of the root, also by
 * links, is refused with `WORKSPACE_PATH`. Nothing is started by making a workspace: the first call opens it. Every method rejects with a
 * `RuntimeError` of a code in `workspaceCodes`, or with the reason of `signal` once that is aborted. Any other rejection counts as a fault
 * of the workspace: the tools close it, and go on with `anew()`. `workspaceContract` of `escapement/testing` checks all of this.
 */
export interface Workspace {
  /** Sentence for the model about the place where commands run: its reach, and the changes that remain. */
  readonly description: string
  /** Absolute path of the root as commands see it. */
  readonly root: string
  /** Programs that the tools may use by `exec`, such as `rg`. Default: none. */
  readonly has?: readonly string[]
  /** Real path of the root on this machine, if the files are here. They are then searched in place, in a thread. */
  readonly folder?: string
  /**
   * Returns the one spelling of a path, with links resolved, by which rules judge it; a `file` may not be named like a folder. Must be fast and
   * synchronous. Without this method the tools remove `.` and `..` from a path, and the workspace must refuse every path that leads through a link.
   *
   * @throws RuntimeError `WORKSPACE_PATH`
   */
  spell?(path: string, of: 'file' | 'folder'): string
  /**
   * Reads at most `maxBytes` of a file from `offset`, by default 0; `null` if the file or its
   * folder does not exist. Rejects with `WORKSPACE_KIND` for anything but a regular file.
   */
  read(path: string, options: ReadOptions): Promise<WorkspaceFile | null>
  /**
   * Replaces a file as a whole, or creates it with its folders. Readers see the old content or the new; a failure or an abort leaves the old. The mode of
   * an existing file stays.
   */
  write(path: string, bytes: Uint8Array, options: WriteOptions): Promise<void>
  /** Removes a file or an empty folder. Rejects with `WORKSPACE_MISSING` if there is none, `WORKSPACE_KIND` for a folder that is not empty. */
  remove(path: string, options: { readonly signal: AbortSignal }): Promise<void>
  /** Lists a folder, in no particular order. Links are listed but not followed. Rejects with `WORKSPACE_MISSING`, `WORKSPACE_KIND`. */
  list(path: string, options: ListOptions): AsyncIterable<WorkspaceEntry>
  /**
   * Runs a command line of `/bin/sh` to its end, without input. Resolves, however the command ends, once none of its processes is left, or can be ended.
   * Rejects only if it could not be started: `WORKSPACE_MISSING`, `WORKSPACE_KIND` for its folder, `WORKSPACE_REFUSED` where there are no commands.
   */
  exec(command: string, options: ExecOptions): Promise<ExecEnd>
  /** Ends the processes that a command of a dead process left, as told to `started`. Without it, no command runs in the background. Never rejects. */
  endLeft?(left: unknown): Promise<void>
  /** Returns another workspace in the initial state of this one; absent if there can be only one. */
  anew?(): Workspace
  /** Ends commands, and releases everything that was opened; idempotent. Later calls reject with `WORKSPACE_CLOSED`. */
  close(): Promise<void>
}

export interface ReadOptions {
  readonly signal: AbortSignal
  readonly maxBytes: number
  readonly offset?: number
}

export interface WorkspaceFile {
  readonly bytes: Uint8Array
  /** Size of the whole file, in bytes. */
  readonly size: number
  /** Permissions, such as 0o644. */
  readonly mode: number
}

export interface WriteOptions {
  readonly signal: AbortSignal
  /** Permissions of a file that does not exist yet. */
  readonly mode?: number
  /** SHA-256, in hexadecimal digits, of the content to be replaced; `null`: no file. `WORKSPACE_CHANGED` if it differs. Default: anything. */
  readonly expect?: string | null
}

export interface ListOptions {
  readonly signal: AbortSignal
  /** Maximum number of entries to list. */
  readonly limit: number
  /** True to list all files and links below the folder; false to list its direct entries, folders included. */
  readonly deep: boolean
  /** Names of folders below it that are not entered. */
  readonly skip?: ReadonlySet<string>
}

export interface WorkspaceEntry {
  /** Path relative to the listed folder. */
  readonly path: string
  readonly type: 'file' | 'folder' | 'link'
}

export interface ExecOptions {
  readonly signal: AbortSignal
  /** Milliseconds after which the command is ended, with its children. */
  readonly timeoutMs: number
  /** Folder to start in, relative to the root. Default: the root. */
  readonly cwd?: string
  /** Variables in addition to those that the workspace has; `undefined` removes one. */
  readonly env?: { readonly [name: string]: string | undefined }
  /** Takes standard output and standard error, in the order they were written. */
  onOutput(bytes: Uint8Array): void
  /**
   * Awaited before the command begins, with JSON by which `endLeft` ends what a dead process left of it. If it rejects, the command never begins, and
   * `exec` rejects with the same.
   */
  started?(left: unknown): Promise<void>
}

/** Outcome of a command. */
export interface ExecEnd {
  /** Exit code; `null` if there is none, because it was killed. */
  readonly code: number | null
  /** Signal that killed the command, if known. */
  readonly killedBy?: string | undefined
  /** Reason why the command was stopped; missing if it was not. */
  readonly stopped?: 'timeout' | 'abort' | undefined
  /** True if the command exited while processes it had started were still running; they were stopped. */
  readonly leftBehind?: boolean
}

/** Codes with which a workspace rejects. */
export const workspaceCodes = [
  'WORKSPACE_PATH',
  'WORKSPACE_MISSING',
  'WORKSPACE_KIND',
  'WORKSPACE_CHANGED',
  'WORKSPACE_REFUSED',
  'WORKSPACE_FULL',
  'WORKSPACE_CLOSED',
] as const satisfies readonly ErrorCode[]
export type WorkspaceCode = (typeof workspaceCodes)[number]

const codes: ReadonlySet<unknown> = new Set(workspaceCodes)

/** Returns true if an error has one of the codes with which a workspace reports a problem of a call. */
export const isWorkspaceError = (thrown: unknown): boolean =>
  thrown instanceof Error && 'code' in thrown && codes.has(thrown.code)

/** Returns an error of a workspace about a path. `reason`: a phrase such as `is a folder, not a file`. */
export const pathError = (code: WorkspaceCode, path: string, reason: string, cause?: unknown): RuntimeError =>
  new RuntimeError(code, `path ${JSON.stringify(path)} ${reason}`, cause === undefined ? {} : { cause })
