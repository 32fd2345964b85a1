import type { Block, ToolSpec } from '../../../../src/index.ts'
import { SessionDraft } from '../readers/sessionDraft.ts'
import { text } from '../readers/shapes.ts'
import type { RecordedSession } from '../recordedSession.ts'
import { makeProject, prose, type Project, type SourceFile } from './project.ts'
import { Random } from './random.ts'
import { tool } from './toolSpec.ts'

const tools: readonly ToolSpec[] = [
  tool('read_file', 'Reads a file of the project.', 'path'),
  tool('search', 'Lists the lines that match a pattern, with their files.', 'pattern'),
  tool('edit_file', 'Replaces a text that stands once in a file.', 'path', 'old', 'new'),
  tool('run_command', 'Runs a shell command and gives its output.', 'command'),
]

const rules = [
  'From now on never touch anything under src/access without asking me.',
  'One more rule: every change needs a line in CHANGELOG.md.',
  'Please keep functions under 40 lines, also in files you only touch.',
  'Do not add dependencies. If you think you need one, stop and tell me.',
]

/**
 * A made-up coding session of at least so many replies (a few more, to end its last task), the same for the same seed: tasks with dead
 * ends, loops of a failing command, steering in the middle of calls, rules by the user, and settings met early and used late.
 */
export function generateSession(replies: number, seed: number): RecordedSession {
  return new Generator(replies, seed).session()
}

class Generator {
  readonly #replies: number
  readonly #seed: number
  readonly #random: Random
  readonly #project: Project
  readonly #draft = new SessionDraft('generated')
  #made = 0
  #calls = 0

  constructor(replies: number, seed: number) {
    this.#replies = replies
    this.#seed = seed
    this.#random = new Random(seed)
    this.#project = makeProject(this.#random)
  }

  session(): RecordedSession {
    this.#draft.system(`You are a coding agent. ${prose(this.#random, 900)}`)
    for (const spec of tools) this.#draft.tool(spec)
    for (let task = 1; this.#made < this.#replies; task += 1) this.#task(task)
    return this.#draft.finish(`generated-${this.#replies}-${this.#seed}`)
  }

  #task(number: number): void {
    const random = this.#random
    const target = this.#file()
    const setting = random.pick(this.#project.settings)
    const rule = random.chance(0.3) ? ` ${random.pick(rules)}` : ''
    this.#draft.user([
      text(`Task ${number}: ${random.pick(target.functions)} in ${target.path} must honour ${setting}.${rule}`),
    ])
    if (number === 1) this.#readSettings()
    this.#explore(target)
    if (random.chance(0.5)) this.#deadEnd()
    this.#edit(target)
    this.#test(target)
    if (random.chance(0.4)) this.#loop(target)
    if (random.chance(0.35)) this.#steer(target)
    this.#edit(target)
    // What was met long ago is needed again: a name, not the file it stood in.
    const old = random.pick(this.#project.settings)
    this.#step('That limit is checked elsewhere too.', ['search', { pattern: old }, `${this.#file().path}:12: ${old}`])
    this.#step('', ['run_command', { command: `npm test -- ${target.path}` }, `ok: 12 passed\n${prose(random, 40)}`])
    this.#reply([text(`Done: ${target.path} honours ${setting} now. ${prose(random, random.between(30, 120))}.`)])
  }

  #readSettings(): void {
    const lines = this.#project.settings.map(
      (name) => `${name}=${this.#random.between(1, 500)} # ${prose(this.#random, 8)}`,
    )
    this.#step('First the settings.', ['read_file', { path: 'config/limits.env' }, lines.join('\n')])
  }

  #explore(target: SourceFile): void {
    const random = this.#random
    const found = Array.from({ length: random.between(4, 25) }, () => {
      const file = this.#file()
      return `${file.path}:${random.between(1, 200)}: ${random.pick(file.functions)}(input, ${random.between(1, 99)})`
    })
    this.#step('Let me look for the callers.', ['search', { pattern: random.pick(target.functions) }, found.join('\n')])
    for (let reads = random.between(1, 4); reads > 0; reads -= 1) {
      const [a, b] = [this.#file(), this.#file()]
      const second = random.chance(0.3) && a !== b ? [this.#read(b)] : []
      this.#step(random.chance(0.5) ? `Now ${a.path}.` : '', this.#read(a), ...second)
    }
    this.#step('', this.#read(target))
  }

  #deadEnd(): void {
    const file = this.#file()
    this.#step(`Perhaps the cause is in ${file.path}.`, this.#read(file))
    for (let tries = this.#random.between(1, 3); tries > 0; tries -= 1) {
      const log = `Error: ENOTRACE${this.#random.between(1000, 9999)}\n${prose(this.#random, this.#random.between(100, 600))}`
      this.#step('', ['run_command', { command: `node scripts/trace${this.#random.between(10, 99)}.ts` }, log, true])
    }
    this.#step('That leads nowhere; back to the caller.', ['run_command', { command: 'git status --short' }, ' '])
  }

  #edit({ path, functions }: SourceFile): void {
    const name = this.#random.pick(functions)
    const input = {
      path,
      old: `export function ${name}(input, count) {`,
      new: `export function ${name}(input, count) {\n  // ${prose(this.#random, 30)}`,
    }
    const isWrong = this.#random.chance(0.2)
    this.#step('', [
      'edit_file',
      input,
      isWrong ? `old was not found in ${path}` : `replaced 1 line of ${path}`,
      isWrong,
    ])
  }

  #test({ path, functions }: SourceFile): void {
    const failing = this.#random.pick(functions)
    const trace = Array.from(
      { length: this.#random.between(5, 40) },
      (_, line) => `    at ${failing} (${path}:${line + 10})`,
    )
    this.#step('', [
      'run_command',
      { command: `npm test -- ${path}` },
      `1 failed\nAssertionError: ${failing}\n${trace.join('\n')}`,
      true,
    ])
  }

  /** The same call with the same result, again and again. */
  #loop({ path }: SourceFile): void {
    const output = `1 failed\nTypeError: step0 is not defined\n${prose(this.#random, 80)}`
    for (let times = this.#random.between(3, 6); times > 0; times -= 1)
      this.#step('', ['run_command', { command: `npm test -- ${path}` }, output, true])
  }

  /** Somebody speaks while calls run. */
  #steer(target: SourceFile): void {
    this.#step('', this.#read(this.#file()), ['run_command', { command: 'git diff --stat' }, `${target.path} | 4 ++--`])
    const other = this.#file()
    this.#draft.user([text(`Wait: look at ${other.path} first, ${this.#random.pick(other.functions)} does the same.`)])
    this.#step('I see.', this.#read(other))
  }

  #file(): SourceFile {
    return this.#random.pick(this.#project.files)
  }

  #read({ path, text: source }: SourceFile): Call {
    return ['read_file', { path }, source]
  }

  #step(said: string, ...calls: readonly Call[]): void {
    const ids = calls.map(() => `call-${(this.#calls += 1)}`)
    this.#reply([
      text(said),
      ...calls.map(([name, input], index): Block => ({ type: 'toolCall', callId: ids[index]!, name, input })),
    ])
    for (const [index, [, , output, isError = false]] of calls.entries())
      this.#draft.result(ids[index]!, [text(output)], isError)
  }

  #reply(content: readonly Block[]): void {
    this.#made += 1
    this.#draft.reply(content)
  }
}

type Call = readonly [name: string, input: object, output: string, isError?: boolean]
