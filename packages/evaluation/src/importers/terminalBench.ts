import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { parse as parseToml } from 'smol-toml'
import { z } from 'zod'
import { describeIssues, messageOf } from '../../../../src/protocol/errors.ts'
import { lazily } from '../../../../src/protocol/lazily.ts'
import { loadPeer } from '../../../../src/protocol/ports/loadPeer.ts'
import { imageName } from '../suite/task.ts'
import { filesWithin, idOf, kindOf, placeWithin, textWithin, wrong, type ImportedFile } from './imported.ts'
import type { Importer, ImportedTask } from './imported.ts'
import { quoted } from '../../../charts/src/text/shellWord.ts'

const wants =
  'a folder of tasks in the format of Terminal-Bench 1 (task.yaml) or 2 (task.toml and instruction.md): git clone https://github.com/laude-institute/terminal-bench-2, or the tasks/ of https://github.com/laude-institute/terminal-bench'

const seconds = z.number().positive().optional()

/** Schema of `task.yaml`. */
const oldSchema = lazily(() =>
  z.looseObject({
    instruction: z.string().min(1),
    difficulty: z.string().optional(),
    category: z.string().optional(),
    tags: z.array(z.string()).nullish(),
    max_agent_timeout_sec: seconds,
    max_test_timeout_sec: seconds,
  }),
)

/** Schema of `task.toml`. */
const newSchema = lazily(() =>
  z.looseObject({
    metadata: z
      .looseObject({
        difficulty: z.string().optional(),
        category: z.string().optional(),
        tags: z.array(z.string()).optional(),
      })
      .optional(),
    agent: z.looseObject({ timeout_sec: seconds }).optional(),
    verifier: z.looseObject({ timeout_sec: seconds }).optional(),
    environment: z.looseObject({ docker_image: imageName.optional() }).optional(),
  }),
)

/** Fields that both formats have. */
interface Read {
  readonly instruction: string
  readonly tags: readonly string[]
  readonly agentSeconds: number
  readonly testSeconds: number
  readonly image: string | undefined
  /** Folder whose Dockerfile makes the image. */
  readonly context: string
  /** Path of the script that is run beside the tests; `undefined` if one of the tests is run. */
  readonly script: string | undefined
}

/** Terminal-Bench: tasks in a terminal, each with an image. */
export const terminalBench: Importer = {
  title: 'Terminal-Bench',
  wants,
  async read(path) {
    if ((await kindOf(path)) !== 'folder') throw wrong(`${path} is no folder: it should be ${wants}.`)
    const tasks: ImportedTask[] = []
    const builds: string[] = []
    const composed: string[] = []
    for (const name of (await readdir(path)).toSorted()) {
      const folder = join(path, name)
      if ((await kindOf(folder)) !== 'folder') continue
      const read = await readTask(path, name)
      if (read === undefined) continue
      if (await hasServices(path, name)) {
        composed.push(name)
        continue
      }
      const image = read.image ?? `terminal-bench/${name.toLowerCase().replaceAll(/[^a-z0-9._-]+/g, '-')}`
      const isBuilt = read.image === undefined
      builds.push(isBuilt ? `docker build -t ${quoted(image)} ${quoted(read.context)}` : `docker pull ${quoted(image)}`)
      tasks.push(await taskOf(path, name, read, image))
    }
    if (tasks.length === 0 && composed.length === 0)
      throw wrong(`${path} has no task of Terminal-Bench: it should be ${wants}.`)
    return {
      tasks,
      others: new Map([['images.sh', `#!/bin/sh\n# The images of the tasks.\nset -e\n${builds.join('\n')}\n`]]),
      needs: [
        'Docker with the images of the tasks: sh <suite>/images.sh, from the folder that this was run in; building takes a network.',
      ],
      differs: [
        'The workspace is a copy of /app of the image, in the place of that in a container of its own for every command, which runs as root: packages that are installed, servers that are started and files elsewhere are gone after it. Tasks about these cannot be solved.',
        'Commands have no network, also where the benchmark gives one; tests that install what they need first fail, unless the image has it.',
        ...(composed.length === 0 ? [] : [`Left out, as they need several services: ${composed.join(', ')}.`]),
      ],
    }
  },
}

async function readTask(root: string, name: string): Promise<Read | undefined> {
  const toml = await textWithin(root, `${name}/task.toml`)
  if (toml !== undefined) return readNew(root, name, toml)
  const yaml = await textWithin(root, `${name}/task.yaml`)
  return yaml === undefined ? undefined : readOld(join(root, name), yaml)
}

async function readOld(folder: string, source: string): Promise<Read> {
  const file = join(folder, 'task.yaml')
  const { parse } = await loadPeer(() => import('yaml'), 'Importing tasks of Terminal-Bench 1', 'yaml')
  const task = checked(oldSchema(), file, () => parse(source) as unknown)
  return {
    instruction: task.instruction,
    tags: tagsOf(task.tags ?? [], task.category, task.difficulty),
    agentSeconds: task.max_agent_timeout_sec ?? 360,
    testSeconds: task.max_test_timeout_sec ?? 180,
    image: undefined,
    context: folder,
    script: 'run-tests.sh',
  }
}

async function readNew(root: string, name: string, source: string): Promise<Read> {
  const folder = join(root, name)
  const task = checked(newSchema(), join(folder, 'task.toml'), () => parseToml(source))
  const instruction = await textWithin(root, `${name}/instruction.md`)
  if (instruction === undefined || instruction.trim() === '')
    throw wrong(`${folder} has no instruction.md: it should be one of ${wants}.`)
  const { metadata: { tags = [], category, difficulty } = {}, agent, verifier, environment } = task
  return {
    instruction,
    tags: tagsOf(tags, category, difficulty),
    agentSeconds: agent?.timeout_sec ?? 600,
    testSeconds: verifier?.timeout_sec ?? 600,
    image: environment?.docker_image,
    context: join(folder, 'environment'),
    script: undefined,
  }
}

function checked<T>(schema: z.ZodType<T>, file: string, read: () => unknown): T {
  let value: unknown
  try {
    value = read()
  } catch (thrown) {
    throw wrong(`${file} cannot be read: ${messageOf(thrown)}.`)
  }
  const result = schema.safeParse(value)
  if (result.success) return result.data
  throw wrong(`${file}: ${describeIssues(result.error)}.`)
}

const tagsOf = (tags: readonly string[], ...others: readonly (string | undefined)[]): readonly string[] =>
  [...tags, ...others].flatMap((tag) => (tag === undefined || tag === '' ? [] : [tag]))

/** Returns true if a task needs more than one container. */
async function hasServices(root: string, name: string): Promise<boolean> {
  const compose =
    (await textWithin(root, `${name}/environment/docker-compose.yaml`)) ??
    (await textWithin(root, `${name}/docker-compose.yaml`))
  if (compose === undefined) return false
  const lines = compose.split('\n')
  const services = lines.slice(lines.findIndex((line) => /^services:\s*$/.test(line)) + 1 || lines.length)
  const end = services.findIndex((line) => /^\S/.test(line))
  return (end === -1 ? services : services.slice(0, end)).filter((line) => /^ {2}[\w-]+:\s*$/.test(line)).length > 1
}

const testsFolder = '.tests'

async function taskOf(root: string, name: string, read: Read, image: string): Promise<ImportedTask> {
  const check = new Map<string, ImportedFile>()
  for (const [path, file] of await filesWithin(root, `${name}/tests`)) check.set(`${testsFolder}/${path}`, file)
  if (read.script !== undefined) {
    const from = await placeWithin(root, `${name}/${read.script}`)
    if (from === undefined) throw wrong(`${join(root, name)} has no ${read.script}: it should be one of ${wants}.`)
    check.set(`${testsFolder}/${read.script}`, { from })
  }
  const script = read.script ?? 'test.sh'
  // Both formats know where tests are by other names; the second gives its verdict in a file.
  const verdict = read.script === undefined ? ' && [ "$(cut -c1 /logs/verifier/reward.txt)" = 1 ]' : ''
  const place = 'rm -rf /tests && cp -r .tests /tests && mkdir -p /logs/verifier'
  return {
    task: {
      id: idOf(name),
      image: { name: image, mount: '/app', root: true },
      prompts: [read.instruction.trim()],
      setup: 'if [ -d /app ]; then cp -a /app/. .; fi',
      check: {
        command: `${place} && TEST_DIR=/tests bash /tests/${script}${verdict}`,
        timeoutMs: 1_000 * read.testSeconds,
        name: 'tests',
      },
      limits: { ms: 1_000 * read.agentSeconds },
      tags: read.tags,
    },
    check,
  }
}
