import { z } from 'zod'
import { onlyFields } from '../../../../src/protocol/checks/onlyFields.ts'
import { type Clock, systemClock } from '../../../../src/protocol/ports/clock.ts'
import { checkedBy, RuntimeError } from '../../../../src/protocol/errors.ts'
import { lazily } from '../../../../src/protocol/lazily.ts'
import type { Approval } from './approval.ts'
import { deleteFileTool, type DeleteFileInput } from './deleteFile.ts'
import { editFileTool, type EditFileInput } from './editFile.ts'
import { fileUndo } from './fileReceipt.ts'
import { listFilesTool, type ListFilesInput } from './listFiles.ts'
import { readFileTool, type ReadFileInput } from './readFile.ts'
import { type CommandSandbox, localWorkspace } from './localWorkspace.ts'
import type { Workspace } from './port.ts'
import { runCommandTool, type RunCommandInput } from './runCommand.ts'
import { searchFilesTool, type SearchFilesInput } from './searchFiles.ts'
import { type TreeOptions, treeUndo } from './tree/treeUndo.ts'
import { workspaceUse } from './workspaceUse.ts'
import { writeFileTool, type WriteFileInput } from './writeFile.ts'

export interface WorkspaceToolsOptions {
  /** Calls that wait for `agent.decide`; calls of tools not listed run at once. Recommended for `run_command`. */
  readonly needsApproval?: {
    readonly read_file?: Approval<ReadFileInput>
    readonly write_file?: Approval<WriteFileInput>
    readonly edit_file?: Approval<EditFileInput>
    /** Applies only with `snapshots`. */
    readonly delete_file?: Approval<DeleteFileInput>
    readonly list_files?: Approval<ListFilesInput>
    readonly search_files?: Approval<SearchFilesInput>
    readonly run_command?: Approval<RunCommandInput>
  }
  /** Maximum time for a command, in milliseconds; the model may ask for less. Default 600,000, at most a day. */
  readonly commandTimeoutMs?: number
  /**
   * Variables that commands see in addition to the process's well-known harmless ones (`PATH`, `HOME`, `LANG` and the like);
   * `undefined` removes one. Passing `process.env` exposes everything, including secrets.
   */
  readonly env?: { readonly [name: string]: string | undefined }
  /**
   * Keeps the content of a file before `write_file`, `edit_file` and `delete_file`, which exists only then, so that a revert with `undo` can
   * bring it back: up to 16 MiB of a file, 256 MiB of an agent, in the folder of its file store, else in memory (64 MiB). The whole content is
   * kept, secrets included. Default `false`.
   *
   * `'tree'`: `run_command`, too, in a folder of this machine. The folder is examined before and after each command, and differences are kept,
   * including files that `.gitignore` names. Folders named `.escapement` and those of `exclude`, by name anywhere or by path, are left out. A
   * folder of more than `maxFiles` (default 200,000 files and folders) or `maxBytes` (default 1 GiB) is not covered, and the model is told.
   */
  readonly snapshots?: boolean | 'tree' | { readonly tree: TreeOptions }
  /** Runs commands of a folder in place of a shell on this machine. The file tools stay here, in the same folder. Default: none. */
  readonly sandbox?: CommandSandbox
  /**
   * `'shared'`: all agents with these tools work in the given workspace, until their last runtime is closed.
   * `'own'`: each agent and sub-agent has its own workspace, from `anew()`, until it ends. Default `'shared'`.
   */
  readonly workspace?: 'own' | 'shared'
  /**
   * Allows the model to let a command, such as a build or a server, continue in the background for up to an hour, or
   * `commandTimeoutMs` if that is given. Processes that a crash left running are ended before the agent continues. Default `false`.
   */
  readonly background?: boolean
  /** Clock for time limits and progress reports; commands use the workspace's own. Default: the system's. */
  readonly clock?: Clock
}

/** Matches names between slashes, none of them `.` or `..`. */
const excluded = /^(?!\.{1,2}(\/|$))[^/\0]+(\/(?!\.{1,2}(\/|$))[^/\0]+)*$/

const optionsSchema = lazily(() => {
  const approval = z
    .union([z.boolean(), z.custom((value) => typeof value === 'function', 'give a function')])
    .optional()
  return onlyFields({
    needsApproval: onlyFields({
      read_file: approval,
      write_file: approval,
      edit_file: approval,
      delete_file: approval,
      list_files: approval,
      search_files: approval,
      run_command: approval,
    }).optional(),
    commandTimeoutMs: z.number().positive().max(86_400_000).optional(),
    env: z.record(z.string(), z.string().optional()).optional(),
    snapshots: z
      .union([
        z.boolean(),
        z.literal('tree'),
        onlyFields({
          tree: onlyFields({
            exclude: z
              .array(z.string().regex(excluded, 'give names of folders, or paths relative to the workspace'))
              .optional(),
            maxFiles: z.int().positive().optional(),
            maxBytes: z.int().positive().optional(),
          }),
        }),
      ])
      .optional(),
    background: z.boolean().optional(),
    workspace: z.enum(['own', 'shared']).optional(),
    sandbox: z
      .custom(
        (value) => typeof (value as CommandSandbox | undefined)?.launch === 'function',
        'give { description, launch }',
      )
      .optional(),
    clock: z.custom((value) => typeof value === 'object' && value !== null, 'give a Clock').optional(),
  })
})

/** One of the tools that work in a workspace. */
export type WorkspaceTool = ReturnType<
  | typeof readFileTool
  | typeof writeFileTool
  | typeof editFileTool
  | typeof deleteFileTool
  | typeof listFilesTool
  | typeof searchFilesTool
  | typeof runCommandTool
>

/**
 * Creates the tools `read_file`, `write_file`, `edit_file`, `list_files`, `search_files` and `run_command`, which all work in a folder of this
 * machine, or in another workspace of `escapement/workspaces`, such as a container; with `snapshots`, `delete_file` too. The file tools cannot leave it
 * through `..`, an absolute path or a symbolic link.
 *
 * **In a folder, `run_command` only starts there: a shell can reach everything this process can.** Set
 * `needsApproval: { run_command: true }`, leave the tool out of the list, give a container, or run the whole process in a sandbox.
 *
 * @throws RuntimeError `INVALID_OPTION` when it is not an existing folder or an option is malformed.
 *
 * @example
 * ```ts
 * const tools = workspaceTools('.', {
 *   needsApproval: { run_command: true, write_file: ({ path }) => path.startsWith('config/') },
 *   commandTimeoutMs: 60_000,
 * })
 * const coder = defineAgent({ name: 'coder', model, tools })
 * ```
 */
export function workspaceTools(workspace: string | Workspace, options: WorkspaceToolsOptions = {}): WorkspaceTool[] {
  checkedBy(optionsSchema(), options, 'workspaceTools')
  const clock = options.clock ?? systemClock
  const given = checkedWorkspace(workspace, options)
  const use = workspaceUse(given, options.workspace === 'own')
  const approvals = options.needsApproval ?? {}
  const { snapshots = false } = options
  const tree =
    typeof snapshots === 'boolean' ? undefined : treeUndo(given.folder!, snapshots === 'tree' ? {} : snapshots.tree)
  const undo = snapshots === false ? undefined : fileUndo(use, tree)
  return [
    readFileTool(use, approvals.read_file ?? false),
    writeFileTool(use, approvals.write_file ?? false, undo),
    editFileTool(use, approvals.edit_file ?? false, undo),
    ...(undo === undefined ? [] : [deleteFileTool(use, approvals.delete_file ?? false, undo)]),
    listFilesTool(use, approvals.list_files ?? false),
    searchFilesTool(use, approvals.search_files ?? false, { clock }),
    runCommandTool(use, approvals.run_command ?? false, {
      clock,
      maxTimeoutMs: options.commandTimeoutMs ?? 600_000,
      maxBackgroundMs: options.commandTimeoutMs ?? 3_600_000,
      background: options.background,
      env: options.env ?? {},
      tree,
    }),
  ]
}

/** @throws RuntimeError `INVALID_OPTION` */
function checkedWorkspace(given: string | Workspace, options: WorkspaceToolsOptions): Workspace {
  const wrong = (what: string): RuntimeError => new RuntimeError('INVALID_OPTION', `workspaceTools: ${what}.`)
  const { sandbox, clock, snapshots = false } = options
  if (typeof given === 'string') return localWorkspace(given, { sandbox, clock })
  if (typeof given?.exec !== 'function' || typeof given.read !== 'function')
    throw wrong('give the path of a folder, or a workspace such as memoryWorkspace()')
  if (sandbox !== undefined)
    throw wrong('a sandbox is for a folder; the workspace that was given runs its own commands')
  if (typeof snapshots !== 'boolean' && given.folder === undefined)
    throw wrong(
      'what commands do can be undone in a folder of this machine alone, and this workspace is none: give snapshots: true, which covers the file tools',
    )
  if (options.background === true && given.endLeft === undefined)
    throw wrong('commands of this workspace cannot go on in the background: leave "background" out')
  if (options.workspace === 'own' && given.anew === undefined)
    throw wrong('there can be only one of this workspace, so agents cannot have their own: leave "workspace" out')
  return given
}
