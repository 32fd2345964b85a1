import { readdir, readFile, stat } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { z } from 'zod'
import { messageOf, RuntimeError } from '../../../../src/protocol/errors.ts'
import { lazily } from '../../../../src/protocol/lazily.ts'
import { nearestWord } from '../../../../src/protocol/checks/nearestWord.ts'
import { onlyFields } from '../../../../src/protocol/checks/onlyFields.ts'
import { importModule } from '../../../tools/src/userFiles/importModule.ts'
import { mistakesOf } from '../../../../src/protocol/checks/mistakes.ts'
import { wrongInFile } from '../../../tools/src/userFiles/wrongInFile.ts'
import { suiteSchema, type SuiteDefinition } from './defineSuite.ts'
import { suiteTask, textFiles, type JudgedExample, type Suite, type SuiteTask } from './suite.ts'
import { suiteDigest } from './suiteDigest.ts'
import { taskFileSchema, type Task } from './task.ts'
import { filesBelow, isNoPart, taskFolders } from './taskFiles.ts'

const wrong = (what: string): RuntimeError => new RuntimeError('INVALID_OPTION', what)

const moduleNames = ['suite.ts', 'suite.mts', 'suite.js', 'suite.mjs']

/**
 * Reads and checks the suite in a folder. `known`: names of other suites to suggest if the folder is missing.
 *
 * @throws RuntimeError `INVALID_OPTION` that names file, line and key of the mistake; if there is no such folder, it names those there are.
 */
export async function readSuite(path: string, cwd: string, known: readonly string[] = []): Promise<Suite> {
  const folder = resolve(cwd, path)
  if ((await kindOf(folder)) !== 'folder') throw wrong(await notThere(folder, path, known))
  const names = await readdir(folder)
  const moduleName = moduleNames.find((name) => names.includes(name))
  const definition = moduleName === undefined ? {} : await readSuiteModule(join(folder, moduleName))
  const tasks: SuiteTask[] = []
  const places = new Map<string, string>()
  const add = (task: SuiteTask, place: string): void => {
    const other = places.get(task.id)
    if (other !== undefined) throw wrong(`${place}: id: "${task.id}" is the id of ${other}, too: give each its own.`)
    places.set(task.id, place)
    tasks.push(task)
  }
  for (const name of names.toSorted()) {
    const file = join(folder, name, 'task.json')
    if (isNoPart(name) || (await kindOf(file)) !== 'file') continue
    add(await readTask(file, name), file)
  }
  for (const task of definition.tasks ?? [])
    add(suiteTask(task, textFiles(task.files), textFiles(task.checkFiles)), join(folder, moduleName!))
  if (tasks.length === 0)
    throw wrong(`${folder} has no task: each is a folder with a task.json, or stands in tasks of suite.ts.`)
  for (const task of tasks) checkScorers(task, definition, places.get(task.id)!)
  return {
    name: basename(folder),
    folder,
    ...(moduleName === undefined ? {} : { module: join(folder, moduleName) }),
    digest: await suiteDigest(await filesBelow(folder, isNoPart), null),
    tasks,
    definition,
    judged: names.includes('judge.jsonl') ? await readJudged(join(folder, 'judge.jsonl'), tasks) : [],
  }
}

async function kindOf(path: string): Promise<'file' | 'folder' | undefined> {
  const found = await stat(path).catch(() => undefined)
  return found?.isFile() === true ? 'file' : found?.isDirectory() === true ? 'folder' : undefined
}

/** Names the likely alternatives: folders beside it that hold suites. */
async function notThere(folder: string, path: string, known: readonly string[]): Promise<string> {
  const kind = await kindOf(folder)
  if (kind === 'file') return `${folder} is a file: a suite is a folder.`
  const beside = dirname(folder)
  const names = await readdir(beside).catch((): string[] => [])
  const found = await Promise.all(names.map(async (name) => ((await holdsTasks(join(beside, name))) ? [name] : [])))
  const said = dirname(path) === '.' ? '' : `${dirname(path)}/`
  const suites = [...found.flat().map((name) => said + name), ...known]
  if (suites.length === 0) return `There is no folder ${folder}, and no suite beside it.`
  const nearest = nearestWord(path, suites)
  const meant = nearest === undefined ? '' : ` Did you mean ${nearest}?`
  return `There is no suite ${path}.${meant} There are: ${suites.join(', ')}.`
}

async function holdsTasks(folder: string): Promise<boolean> {
  const names = await readdir(folder).catch((): string[] => [])
  if (moduleNames.some((name) => names.includes(name))) return true
  for (const name of names) if ((await kindOf(join(folder, name, 'task.json'))) === 'file') return true
  return false
}

/**
 * Returns the checked exports of a suite's `suite.ts`.
 *
 * @throws RuntimeError `INVALID_OPTION`
 */
export async function readSuiteModule(file: string): Promise<SuiteDefinition> {
  const exported = await importModule(file)
  if (!('default' in exported)) throw wrong(`${file} has no default export: write export default defineSuite({ … }).`)
  const checked = suiteSchema().safeParse(exported['default'])
  if (!checked.success) throw wrong(wrongInFile(file, await readFile(file, 'utf8'), checked.error))
  return exported['default'] as SuiteDefinition
}

async function readTask(file: string, name: string): Promise<SuiteTask> {
  const source = await readFile(file, 'utf8')
  const checked = taskFileSchema().safeParse(parsed(file, source))
  if (!checked.success) throw wrong(wrongInFile(file, source, checked.error))
  const task = checked.data as unknown as Task
  const { id = name } = task as Partial<Task>
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(id))
    throw wrong(`${file}: the folder "${name}" cannot be its id: give it an "id" of letters, digits, ".", "_" and "-".`)
  const folder = dirname(file)
  await checkFolders(folder)
  return suiteTask({ ...task, id }, await filesBelow(join(folder, 'files')), await filesBelow(join(folder, 'check')))
}

/** Checks the names of folders, since others would be left out silently. @throws RuntimeError `INVALID_OPTION` */
async function checkFolders(task: string): Promise<void> {
  for (const entry of await readdir(task, { withFileTypes: true })) {
    if (!entry.isDirectory() || entry.name.startsWith('.') || taskFolders.includes(entry.name)) continue
    const what = 'what a trial begins with goes into "files", what only checks see into "check"'
    throw wrong(`${join(task, entry.name)} is no folder of a task: ${what}.`)
  }
}

/** Parses the JSON of a file; an error names the line. */
function parsed(file: string, source: string, firstLine = 1): unknown {
  try {
    return JSON.parse(source)
  } catch (thrown) {
    const message = messageOf(thrown)
    const at = /at position (\d+)/.exec(message)?.[1]
    const line = firstLine + (at === undefined ? 0 : source.slice(0, Number(at)).split('\n').length - 1)
    throw wrong(`${file}:${line}: this is not JSON: ${message.replace(/ in JSON at position.*$/s, '')}.`)
  }
}

function checkScorers({ checks }: SuiteTask, { scorers = {} }: SuiteDefinition, place: string): void {
  for (const check of checks) {
    if (!('scorer' in check) || Object.hasOwn(scorers, check.scorer)) continue
    const names = Object.keys(scorers)
    const nearest = nearestWord(check.scorer, names)
    const there = names.length === 0 ? 'suite.ts has none' : `there are: ${names.join(', ')}`
    const hint = nearest === undefined ? there : `did you mean "${nearest}"?`
    throw wrong(`${place}: check: there is no scorer "${check.scorer}"; ${hint}.`)
  }
}

const judgedSchema = lazily(() =>
  onlyFields({
    judge: z.string().min(1),
    task: z.string().optional(),
    prompts: z.array(z.string()).optional(),
    answer: z.string(),
    passed: z.boolean(),
    min: z.number().min(0).max(1).optional(),
  }),
)

/** Reads the examples that people have judged, a line each. */
async function readJudged(file: string, tasks: readonly SuiteTask[]): Promise<JudgedExample[]> {
  const lines = (await readFile(file, 'utf8')).split('\n')
  return lines.flatMap((source, index) => {
    if (source.trim() === '') return []
    const place = `${file}:${index + 1}`
    const checked = judgedSchema().safeParse(parsed(file, source, index + 1))
    if (!checked.success)
      throw wrong(
        mistakesOf(checked.error)
          .map(({ path, message }) => `${place}: ${path.map(String).join('.')}: ${message}.`)
          .join('\n'),
      )
    const { task: id, judge, answer, passed, min = 0.5 } = checked.data
    const task = tasks.find((one) => one.id === id)
    if (id !== undefined && task === undefined) throw wrong(`${place}: task: there is no task "${id}" in the suite.`)
    return [{ judge, prompts: checked.data['prompts'] ?? task?.prompts ?? [], answer, passed, min }]
  })
}
