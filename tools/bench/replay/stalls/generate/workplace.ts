import { makeProject, prose, type Project, type SourceFile } from '../../generate/project.ts'
import type { Random } from '../../generate/random.ts'
import type { MadeCall, MadeStep } from './scenario.ts'

const says = ['', '', 'Let me check.', 'Next.', 'I look at this again.', 'Perhaps this helps.', 'Now this one.']

/** Makes the steps that runs consist of. */
export class Workplace {
  readonly random: Random
  readonly project: Project
  readonly #runner: (typeof runners)[number]
  #edits = 0

  constructor(random: Random) {
    this.random = random
    this.project = makeProject(random)
    this.#runner = random.pick(runners)
  }

  step(...calls: readonly MadeCall[]): MadeStep {
    return { said: this.random.pick(says), calls }
  }

  file(): SourceFile {
    return this.random.pick(this.project.files)
  }

  /** Files that differ. */
  files(count: number): SourceFile[] {
    const files = new Set<SourceFile>()
    while (files.size < count) files.add(this.file())
    return [...files]
  }

  read({ path, text }: SourceFile): MadeCall {
    return { tool: 'read_file', input: { path }, output: text.slice(0, 2_400) }
  }

  search(pattern: string): MadeCall {
    const lines = Array.from({ length: this.random.between(2, 9) }, () => {
      const file = this.file()
      return `${file.path}:${this.random.between(1, 300)}: ${this.random.pick(file.functions)}(${pattern})`
    })
    return { tool: 'search', input: { pattern }, output: lines.join('\n') }
  }

  edit({ path, functions }: SourceFile): MadeCall {
    const name = this.random.pick(functions)
    this.#edits += 1
    const input = { path, old: `const ${name} =`, new: `// ${prose(this.random, 8)} ${this.#edits}\nconst ${name} =` }
    return { tool: 'edit_file', input, output: `replaced 1 line of ${path}`, changed: [path] }
  }

  /** An edit of a text that is not there. */
  missedEdit({ path, functions }: SourceFile): MadeCall {
    const old = `${prose(this.random, 4)} ${this.random.pick(functions)}`
    const input = { path, old, new: prose(this.random, 6) }
    return { tool: 'edit_file', input, output: `Error: the old text was not found in ${path}`, isError: true }
  }

  command(command: string, output: string, isError = false): MadeCall {
    return { tool: 'run_command', input: { command }, output, ...(isError ? { isError } : {}) }
  }

  /** A run of the tests of a file, which takes another time each time. `failing`: names of tests. */
  test({ path }: SourceFile, failing: readonly string[], total = 12): MadeCall {
    const ms = this.random.between(80, 4_000)
    return this.command(`npm test -- ${path}`, this.#runner(path, failing, total, ms), failing.length > 0)
  }

  /** Steps that find out something new each. */
  explore(least: number, most: number): MadeStep[] {
    return Array.from({ length: this.random.between(least, most) }, () =>
      this.random.chance(0.4)
        ? this.step(this.search(this.random.pick(this.file().functions)))
        : this.random.chance(0.2)
          ? this.step(this.read(this.file()), this.read(this.file()))
          : this.step(this.read(this.file())),
    )
  }

  /** An edit, and tests that pass. */
  finish(file: SourceFile): MadeStep[] {
    return [this.step(this.read(this.file())), this.step(this.edit(file)), this.step(this.test(file, []))]
  }
}

/** How test runners report; the words are made up, the order is that of well-known ones: details, then counts. */
const runners: readonly ((path: string, failing: readonly string[], total: number, ms: number) => string)[] = [
  (path, failing, total, ms) =>
    [
      ...failing.map((name) => `FAILED ${path}::${name} - AssertionError: assert ${name.length} == 0`),
      `===== ${failing.length === 0 ? '' : `${failing.length} failed, `}${total - failing.length} passed in ${(ms / 1000).toFixed(2)}s =====`,
    ].join('\n'),
  (_, failing, total, ms) =>
    [
      ...failing.map((name, at) => `not ok ${at + 1} - ${name}\n  error: 'Expected values to be strictly equal'`),
      `# tests ${total}`,
      `# pass ${total - failing.length}`,
      `# fail ${failing.length}`,
      `# duration_ms ${ms}.${ms % 97}`,
    ].join('\n'),
  (path, failing, total, ms) =>
    [
      ...failing.map(
        (name) => ` FAIL  ${path} > ${name}\nAssertionError: expected ${name.length} to be 0\n ❯ ${path}:${ms % 90}:7`,
      ),
      ` Tests  ${failing.length} failed | ${total - failing.length} passed (${total})`,
      ` Duration  ${ms}ms`,
    ].join('\n'),
]
