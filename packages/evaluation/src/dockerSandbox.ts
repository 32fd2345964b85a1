import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { relative, sep } from 'node:path'
import type { CommandSandbox } from '../../tools/src/workspace/localWorkspace.ts'
import type { SuiteTask } from './suite/suite.ts'
import type { TaskImage } from './suite/task.ts'
import { messageOf, RuntimeError } from '../../../src/protocol/errors.ts'
import { quoted } from '../../charts/src/text/shellWord.ts'

/** Default place of a trial's folder in its container. */
const usualMount = '/workspace'

/**
 * Limits on the effects of a command on the machine: it cannot begin processes without end, take all of its memory (with no swap beside it), or gain
 * rights, not even through a file that an earlier command left in the folder.
 */
const confined = [
  '--pids-limit',
  '1024',
  '--memory',
  '8g',
  '--memory-swap',
  '8g',
  '--cap-drop',
  'ALL',
  '--security-opt',
  'no-new-privileges',
]

/** Capabilities of a container's administrator, who installs packages with files of several owners; none of them reaches beyond the container. */
const asAdministrator = ['CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'SETGID', 'SETUID'].flatMap((name) => ['--cap-add', name])

/** Variables that tell the Docker client where its engine is. */
const clientVariables = [
  'DOCKER_HOST',
  'DOCKER_CONTEXT',
  'DOCKER_CONFIG',
  'DOCKER_CERT_PATH',
  'DOCKER_TLS_VERIFY',
  'DOCKER_API_VERSION',
]

const clientEnv = (): Record<string, string> =>
  Object.fromEntries(
    clientVariables.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])),
  )

const killMs = 10_000

/** Runs `docker` to its end; resolves with its standard error, or `undefined` on success. Never rejects. */
const docker = (args: readonly string[], timeoutMs: number): Promise<string | undefined> =>
  new Promise((resolve) => {
    execFile('docker', [...args], { timeout: timeoutMs, killSignal: 'SIGKILL' }, (error, _stdout, stderr) =>
      resolve(error === null ? undefined : stderr.trim() || messageOf(error)),
    )
  })

/**
 * Runs every command of a folder in a container of its own, without a network. A command sees the image and the folder at
 * `mount`, by default `/workspace`, and only its changes to the folder remain. Files belong to the user of this process, even if
 * commands run as the administrator of the container (`root`). A container is killed by its name when its command is stopped.
 */
export function dockerSandbox(
  dir: string,
  { name: image, mount: mountPoint = usualMount, root = false }: TaskImage,
): CommandSandbox {
  const { getuid, getgid } = process
  const owner = getuid === undefined || getgid === undefined ? undefined : `${getuid()}:${getgid()}`
  // Without it files that a command makes belong to root, and cannot be removed.
  const user = root ? ['--user', '0:0'] : owner === undefined ? [] : ['--user', owner]
  const givenBack = (command: string): string =>
    root && owner !== undefined
      ? `/bin/sh -c ${quoted(command)}\ncode=$?\nchown -R ${owner} ${mountPoint} 2>/dev/null\nexit $code`
      : command
  // What a command was stopped at belongs to the administrator, perhaps with the right to run as one.
  const givingBack = [
    'run',
    '--rm',
    '--network',
    'none',
    ...confined,
    ...asAdministrator,
    '--user',
    '0:0',
    '--volume',
    `${dir}:${mountPoint}`,
    image,
    '/bin/sh',
    '-c',
    `chown -R ${owner} ${mountPoint}`,
  ]
  return {
    description: `It runs in a container without a network, in which the workspace is ${mountPoint}; of what it changes elsewhere nothing stays.`,
    launch(command, cwd) {
      const name = `escapement-${randomBytes(8).toString('hex')}`
      const place = relative(dir, cwd).split(sep).join('/')
      return {
        argv: [
          'docker',
          'run',
          '--rm',
          '--init',
          '--name',
          name,
          '--network',
          'none',
          ...confined,
          ...(root ? asAdministrator : []),
          ...user,
          '--env',
          'HOME=/tmp',
          '--env',
          'NO_COLOR=1',
          '--volume',
          `${dir}:${mountPoint}`,
          '--workdir',
          place === '' ? mountPoint : `${mountPoint}/${place}`,
          image,
          '/bin/sh',
          '-c',
          givenBack(command),
        ],
        env: clientEnv(),
        // The client may be gone before its container is, or never have begun it.
        stop: async () => {
          await docker(['rm', '--force', name], killMs)
          if (root && owner !== undefined) await docker(givingBack, killMs)
        },
      }
    },
  }
}

/**
 * Checks that a Docker engine is there if an image is named, and that it has all named images: those of tasks, and `usual` for all others.
 *
 * @throws RuntimeError `INVALID_OPTION` naming the task or option that needs it
 */
export async function checkDocker(tasks: readonly SuiteTask[], usual: string | undefined): Promise<void> {
  const images = new Map(usual === undefined ? [] : [[usual, '--docker']])
  for (const { id, image } of tasks)
    if (image !== undefined && !images.has(image.name)) images.set(image.name, `The task "${id}"`)
  for (const [image, wantedBy] of images) await checkImage(image, wantedBy)
}

async function checkImage(image: string, wantedBy: string): Promise<void> {
  const engine = await docker(['version', '--format', '{{.Server.Version}}'], 30_000)
  if (engine !== undefined)
    throw new RuntimeError('INVALID_OPTION', `${wantedBy} needs the program docker and its engine: ${engine}.`)
  const found = await docker(['image', 'inspect', '--format', '{{.Id}}', image], 30_000)
  if (found === undefined) return
  throw new RuntimeError(
    'INVALID_OPTION',
    `${wantedBy} needs the image "${image}", which is not here: docker pull ${image}. (${found})`,
  )
}
