import { randomBytes } from 'node:crypto'
import { resolve } from 'node:path'
import { z } from 'zod'
import { onlyFields } from '../../../../src/protocol/checks/onlyFields.ts'
import { checkedBy } from '../../../../src/protocol/errors.ts'
import { lazily } from '../../../../src/protocol/lazily.ts'
import { type Clock, systemClock } from '../../../../src/protocol/ports/clock.ts'
import { container, type Container } from './dockerContainer.ts'
import { execInContainer } from './dockerExec.ts'
import type { Workspace } from './port.ts'
import { closedError, shellFiles } from './shellFiles.ts'

export interface DockerWorkspaceOptions {
  /** Image with `/bin/sh`, and the usual programs of busybox or of coreutils. It is not pulled automatically: run `docker pull` before. */
  readonly image: string
  /** Folders of this machine that are mounted in the container: the path there, and the folder here, or `{ from, readOnly }`. Default: none. */
  readonly mounts?: { readonly [path: string]: string | { readonly from: string; readonly readOnly?: boolean } }
  /** Folder in the container that is the root, created if it is missing. Default `/workspace`. */
  readonly root?: string
  /** Network of the container, as `docker run --network` takes it. Default `'none'`. */
  readonly network?: string
  /** User and group of commands and files, such as `1000:1000`. Default: those of this process with a mount, else those of the image. */
  readonly user?: string
  /** Environment variables of commands. None of this process are inherited. */
  readonly env?: { readonly [name: string]: string }
  /** Memory limit, as Docker writes it. Default `'8g'`. */
  readonly memory?: string
  /** Maximum number of processes. Default 1024. */
  readonly processes?: number
  /** Programs of the image that the tools may use: with `['rg']` searches read less. Default: none. */
  readonly has?: readonly string[]
  /** The client of Docker, or of something with the same command line, such as `podman`. Default `'docker'`. */
  readonly program?: string
  /** The clock for time limits; default: the system's. */
  readonly clock?: Clock
}

const optionsSchema = lazily(() => {
  const absolute = z.string().regex(/^\/[^\0:]*[^\0:/]$/, 'give an absolute path of the container, without ":"')
  const text = z.string().regex(/^[^\0-][^\0]*$/, 'give a text that does not begin with "-"')
  const folder = z
    .string()
    .min(1)
    .regex(/^[^\0:]+$/, 'give a folder without ":" in its path')
  return onlyFields({
    image: text,
    mounts: z
      .record(absolute, z.union([folder, onlyFields({ from: folder, readOnly: z.boolean().optional() })]))
      .optional(),
    root: absolute.optional(),
    network: text.optional(),
    user: text.optional(),
    env: z.record(z.string().regex(/^[A-Za-z_]\w*$/, 'give names of variables'), z.string()).optional(),
    memory: text.optional(),
    processes: z.int().positive().optional(),
    has: z.array(z.string()).optional(),
    program: z.string().min(1).optional(),
    clock: z.custom((value) => typeof value === 'object' && value !== null, 'give a Clock').optional(),
  })
})

/**
 * A container of Docker, started by the first call. It has no network, no rights beyond its user's, and limits on
 * memory and processes. Files and commands are all inside: it sees only its mounts of this machine. Files outside of
 * mounts are lost when it is closed. It is removed even if this process is killed.
 *
 * @throws RuntimeError `INVALID_OPTION`
 *
 * @example
 * ```ts
 * import { dockerWorkspace } from 'escapement/workspaces'
 *
 * const box = dockerWorkspace({ image: 'node:24', mounts: { '/workspace': '.' } })
 * const coder = defineAgent({ name: 'coder', model, tools: workspaceTools(box) })
 * ```
 */
export function dockerWorkspace(options: DockerWorkspaceOptions): Workspace {
  checkedBy(optionsSchema(), options, 'dockerWorkspace')
  const { root = '/workspace', network = 'none', has = [], program = 'docker', clock = systemClock } = options
  const name = `escapement-${randomBytes(8).toString('hex')}`
  const closing = new AbortController()
  let opening: Promise<Container> | undefined
  const opened = (signal: AbortSignal): Promise<Container> => {
    if (closing.signal.aborted) return Promise.reject(closedError(root))
    signal.throwIfAborted()
    opening ??= container({
      program,
      name,
      clock,
      args: runArguments(options, { name, root, network }),
      root,
      isOwnRoot: !coversRoot(options, root),
    }).catch((thrown: unknown) => {
      opening = undefined
      throw thrown
    })
    return opening
  }
  const files = shellFiles({
    root,
    run: async (script, args, signal) => (await opened(signal)).run(script, args, { signal }),
    get: async (path, { offset, maxBytes }, signal) => {
      const script = 'tail -c "+$2" "$1" | head -c "$3"'
      const end = await (await opened(signal)).run(script, [path, String(offset + 1), String(maxBytes)], { signal })
      if (end.code !== 0) throw new Error(end.err || `reading ended with code ${end.code}`)
      return end.out
    },
    put: async (path, bytes, signal) => {
      // If the client dies, the container sees the end of its input: too early.
      const script = 'cat > "$1" && [ "$(wc -c < "$1")" -eq "$2" ]'
      const end = await (await opened(signal)).run(script, [path, String(bytes.length)], { signal, input: bytes })
      if (end.code !== 0) throw new Error(end.err || 'not all of it was written')
    },
  })
  return {
    description: describe(root, network, options),
    root,
    has,
    ...files,
    exec: async (command, given) =>
      execInContainer(await opened(given.signal), { command, root, clock, closing: closing.signal, files }, given),
    // The container ends with the process that started it.
    endLeft: async () => {},
    anew: () => dockerWorkspace(options),
    close: async () => {
      closing.abort(new Error('the workspace was closed'))
      await (await opening?.catch(() => undefined))?.close()
    },
  }
}

const coversRoot = ({ mounts = {} }: DockerWorkspaceOptions, root: string): boolean =>
  Object.keys(mounts).some((path) => root === path || root.startsWith(`${path}/`))

function describe(root: string, network: string, options: DockerWorkspaceOptions): string {
  const reach = network === 'none' ? 'without a network' : `with the network ${network}`
  const stays = coversRoot(options, root)
    ? `the workspace is ${root}; of what it changes elsewhere nothing stays`
    : `the workspace is ${root}, which is removed with the container`
  return `It runs in a container of the image ${options.image}, ${reach}, in which ${stays}.`
}

function runArguments(
  { image, mounts = {}, user, env = {}, memory = '8g', processes = 1024 }: DockerWorkspaceOptions,
  { name, root, network }: { readonly name: string; readonly root: string; readonly network: string },
): readonly string[] {
  const { getuid, getgid } = process
  const own = getuid === undefined || getgid === undefined ? undefined : `${getuid()}:${getgid()}`
  // Without it files in a mount would belong to root, and could not be removed here.
  const runsAs = user ?? (Object.keys(mounts).length > 0 ? own : undefined)
  const volumes = Object.entries(mounts).map(([path, mount]) => {
    const { from, readOnly = false } = typeof mount === 'string' ? { from: mount } : mount
    return `--volume=${resolve(from)}:${path}${readOnly ? ':ro' : ''}`
  })
  const variables = Object.entries({ HOME: '/tmp', NO_COLOR: '1', ...env })
  return [
    'run',
    '--rm',
    '--interactive',
    '--init',
    '--pull=never',
    `--name=${name}`,
    `--network=${network}`,
    `--pids-limit=${processes}`,
    `--memory=${memory}`,
    `--memory-swap=${memory}`,
    '--cap-drop=ALL',
    '--security-opt=no-new-privileges',
    ...(runsAs === undefined ? [] : [`--user=${runsAs}`]),
    ...variables.map(([key, value]) => `--env=${key}=${value}`),
    ...volumes,
    `--workdir=${root}`,
    '--entrypoint=/bin/sh',
    image,
  ]
}
