import type { Coding, Range } from './kinds.ts'
import { Codebase, nameFrom, proseOf, sizeFrom, type SourceFile } from './codebase.ts'
import { prose } from './project.ts'
import type { Call, SessionWriter } from './sessionWriter.ts'

const rules = [
  'From now on never touch anything under src/access without asking me.',
  'One more rule: every change needs a line in CHANGELOG.md.',
  'Please keep functions under 40 lines, also in files you only touch.',
  'Do not add dependencies. If you think you need one, stop and tell me.',
]

/** How often a task asks a server, has a dead end, a loop of a failing command, somebody who speaks in the middle of calls. */
const happens = { server: 0.5, deadEnd: 0.12, loop: 0.06, steering: 0.12 }

const tokensPerLine = 17

/** Tasks on a project, with at least so many replies. `shell`: the one tool is a shell. */
export function codingWork(writer: SessionWriter, work: Coding, replies: number, shell: boolean): void {
  const coder = new Coder(writer, work, shell)
  for (let task = 1; writer.made < replies; task += 1) coder.task(task, replies)
}

class Coder {
  readonly #writer: SessionWriter
  readonly #work: Coding
  readonly #shell: boolean
  readonly #code: Codebase
  /** Files that were read, and names that the agent wrote, in this order, before this task and in it. */
  readonly #read: SourceFile[] = []
  readonly #written: string[] = []
  #before = { read: 0, written: 0 }
  /** Names of files that were shown last. */
  readonly #shown = new Map<SourceFile, readonly string[]>()

  constructor(writer: SessionWriter, work: Coding, shell: boolean) {
    this.#writer = writer
    this.#work = work
    this.#shell = shell
    this.#code = new Codebase(writer.random, work.files)
  }

  task(number: number, replies: number): void {
    const { random, servers } = this.#writer
    const { reads, between, changes } = this.#work
    this.#before = { read: this.#read.length, written: this.#written.length }
    const files = Array.from({ length: random.between(...reads) }, () => this.#file())
    const [target] = files as [SourceFile]
    const rule = random.chance(0.15) ? ` ${random.pick(rules)}` : ''
    const wish = proseOf(random, random.logNormal(40, 0.8))
    this.#writer.prompt(`Task ${number}: ${random.pick(target.names)} in ${target.path}: ${wish}.${rule}`)
    const isOver = (): boolean => this.#writer.made >= replies - 1
    this.#search(target)
    for (let at = 0; at < files.length && !isOver();) at += this.#look(files.slice(at))
    if (servers.length > 0 && random.chance(happens.server)) this.#askServer(random.pick(servers))
    if (random.chance(happens.deadEnd)) this.#deadEnd()
    this.#repeat(between, isOver, () => this.#small(random.pick(files)))
    if (random.chance(happens.steering)) this.#steer(files)
    this.#repeat(changes, isOver, () => {
      const file = random.chance(0.8) ? this.#lastShown(files) : random.pick(files)
      this.#change(file)
      if (random.chance(0.6) && !isOver()) this.#test(file)
    })
    if (random.chance(happens.loop)) this.#loop(target)
    this.#report(files)
  }

  #repeat(range: Range, isOver: () => boolean, act: () => void): void {
    for (let times = this.#writer.random.between(...range); times > 0 && !isOver(); times -= 1) act()
  }

  #file(): SourceFile {
    const { random } = this.#writer
    if (this.#read.length > 0 && random.chance(this.#work.readAgain)) return random.pick(this.#read)
    return this.#code.create()
  }

  #call(name: string, input: object, command: string, output: string, isError = false): Call {
    return this.#shell ? ['run_command', { command }, output, isError] : [name, input, output, isError]
  }

  #search(target: SourceFile): void {
    const { random } = this.#writer
    const pattern = this.#wrote(random.pick(this.#shown.get(target) ?? target.names))
    const found = Array.from({ length: random.between(3, 20) }, () => {
      const file = random.chance(0.3) ? target : random.pick(this.#code.files)
      return `${file.path}:${random.between(1, 200)}: ${random.pick(file.names)}(input, ${random.between(1, 99)})`
    })
    this.#writer.step('Let me look.', this.#call('search', { pattern }, `grep -rn ${pattern} src`, found.join('\n')))
  }

  /** Reads one or more of these files in one step; returns how many. */
  #look(files: readonly SourceFile[]): number {
    const now = files.slice(0, this.#writer.random.between(...this.#work.atOnce))
    this.#writer.step('', ...now.map((file) => this.#reading(file)))
    return now.length
  }

  /** Large files are read in part now and then. */
  #reading(file: SourceFile): Call {
    const { random } = this.#writer
    this.#read.push(file)
    this.#wrote(file.path)
    const isPart = file.lines.length > 60 && random.chance(0.4)
    const offset = isPart ? random.between(1, Math.floor(file.lines.length / 2)) : 0
    const limit = isPart ? random.between(40, file.lines.length - offset) : file.lines.length
    const lines = file.lines.slice(offset, offset + limit)
    const shown = lines.join('\n')
    this.#show(file, lines)
    const input = { path: file.path, offset: String(offset), limit: String(limit) }
    return this.#call('read_file', input, `sed -n ${offset + 1},${offset + limit}p ${file.path}`, shown)
  }

  #small(file: SourceFile): void {
    const { random } = this.#writer
    if (random.chance(0.3)) return this.#search(file)
    const tokens = sizeFrom(random, this.#work.output)
    const count = Math.max(1, Math.round(tokens / tokensPerLine))
    const from = random.between(0, Math.max(0, file.lines.length - count))
    const command = `sed -n ${from + 1},${from + count}p ${file.path}`
    this.#show(file, file.lines.slice(from, from + count))
    this.#writer.step('', ['run_command', { command }, file.lines.slice(from, from + count).join('\n')])
  }

  #askServer(server: string): void {
    const { random } = this.#writer
    const input = { issue_0: `ISSUE-${random.between(100, 999)}`, page_1: prose(random, 8) }
    this.#writer.step('', [server, input, proseOf(random, sizeFrom(random, this.#work.output))])
  }

  #change(file: SourceFile): void {
    const { random } = this.#writer
    const names = Array.from({ length: random.between(...this.#work.names) }, () => this.#nameFor(file))
    const fresh = this.#wrote(nameFrom(random, `New${this.#writer.made}`))
    const lines = [...names, fresh].map((name) => `  const next = ${this.#wrote(name)}(input) // ${prose(random, 6)}`)
    const old = `  const step1 = ${names[0]!}(input)`
    const input = { path: file.path, old, new: lines.join('\n') }
    const isWrong = random.chance(0.1)
    const output = isWrong ? `old was not found in ${file.path}` : `replaced 1 line of ${file.path}`
    this.#writer.step(
      '',
      this.#call('edit_file', input, `edit ${file.path} <<'END'\n${input.new}\nEND`, output, isWrong),
    )
  }

  /** A name that a change writes: of the file, or one from before this task. */
  #nameFor(file: SourceFile): string {
    const { random } = this.#writer
    const { read, written } = this.#before
    const shown = this.#shown.get(file) ?? file.names
    if (read === 0 || !random.chance(this.#work.late))
      return random.pick(random.chance(this.#work.fromReads) ? file.names : shown)
    if (random.chance(this.#work.unused)) return random.pick(this.#read[random.between(0, read - 1)]!.names)
    return this.#written[random.between(0, written - 1)]!
  }

  #test({ path, names }: SourceFile): void {
    const { random } = this.#writer
    const failing = random.pick(names)
    const isFailing = random.chance(0.35)
    const trace = Array.from({ length: random.between(3, 25) }, (_, line) => `    at ${failing} (${path}:${line + 10})`)
    const output = isFailing
      ? `1 failed\nAssertionError: ${failing}\n${trace.join('\n')}`
      : `ok: ${random.between(3, 90)} passed\n${proseOf(random, sizeFrom(random, this.#work.output) / 3)}`
    this.#writer.step('', ['run_command', { command: `npm test -- ${path}` }, output, isFailing])
  }

  #deadEnd(): void {
    const { random } = this.#writer
    const file = this.#file()
    this.#writer.step(`Perhaps the cause is in ${file.path}.`, this.#reading(file))
    for (let tries = random.between(1, 3); tries > 0; tries -= 1) {
      const log = `Error: ENOTRACE${random.between(1000, 9999)}\n${prose(random, random.between(100, 600))}`
      const command = `node scripts/trace${random.between(10, 99)}.ts`
      this.#writer.step('', ['run_command', { command }, log, true])
    }
    this.#writer.step('Back to the caller.', ['run_command', { command: 'git status --short' }, ' '])
  }

  /** The same call with the same result, again and again. */
  #loop({ path }: SourceFile): void {
    const { random } = this.#writer
    const output = `1 failed\nTypeError: step0 is not defined\n${prose(random, 80)}`
    for (let times = random.between(3, 5); times > 0; times -= 1)
      this.#writer.step('', ['run_command', { command: `npm test -- ${path}` }, output, true])
  }

  #steer(files: readonly SourceFile[]): void {
    const { random } = this.#writer
    const [a, b] = [random.pick(files), this.#file()]
    this.#writer.step('', this.#reading(a), ['run_command', { command: 'git diff --stat' }, `${a.path} | 4 ++--`])
    this.#writer.steer(`Wait: look at ${b.path} first, ${random.pick(b.names)} does the same.`)
    this.#writer.step('I see.', this.#reading(b))
  }

  #report(files: readonly SourceFile[]): void {
    const { random } = this.#writer
    const named = files
      .slice(0, 6)
      .map((file) => `${file.path}: ${this.#wrote(random.pick(this.#shown.get(file) ?? file.names))}`)
    this.#writer.answer(`Done.\n${named.join('\n')}\n${proseOf(random, random.logNormal(120, 0.8))}.`)
  }

  #show(file: SourceFile, lines: readonly string[]): void {
    const all = lines.join('\n')
    const names = file.names.filter((name) => all.includes(name))
    this.#shown.delete(file)
    if (names.length > 0) this.#shown.set(file, names)
  }

  /** One of these files, of which something was shown a few steps ago. */
  #lastShown(files: readonly SourceFile[]): SourceFile {
    const last = [...this.#shown.keys()].slice(-3).filter((file) => files.includes(file))
    return this.#writer.random.pick(last.length > 0 ? last : files)
  }

  #wrote(name: string): string {
    this.#written.push(name)
    return name
  }
}
