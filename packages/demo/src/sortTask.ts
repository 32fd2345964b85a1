/** Default count of numbers to sort: bubble sort needs many times the default time limit for them on any machine, merge sort a small part of it. */
const usualCount = 60_000

/** Milliseconds that a check may take, including the start of Node. */
export const defaultTimeLimitMs = 1_500
export const maxTimeLimitMs = 600_000

/** Returns the wording of the task, which is all that a model knows about it. */
export const sortTask = (timeLimitMs: number, count = usualCount): string =>
  `Write sort.mjs: export a function sort(numbers) that returns a sorted copy, without the built-in sort. ` +
  `It must sort ${count} numbers within ${timeLimitMs} ms; check.mjs checks it.`

export interface SortTask {
  readonly count: number
  readonly timeLimitMs: number
}

/** Reads a task written like `sortTask`. `undefined` for any other. */
export function readSortTask(text: string): SortTask | undefined {
  const found = /must sort (\d+) numbers within (\d+) ms/.exec(text)
  return found === null ? undefined : { count: Number(found[1]), timeLimitMs: Number(found[2]) }
}

export const checkFile = 'check.mjs'
export const sortFile = 'sort.mjs'

/** Returns the arguments of `node` that check the work. Another `seed` means other numbers. */
export const checkArguments = ({ count: numbers }: Pick<SortTask, 'count'>, seed = 1): readonly string[] =>
  seed === 1 ? [checkFile, String(numbers)] : [checkFile, String(numbers), String(seed)]

/** The program that comes with the task. */
export const checkProgram = `// node check.mjs <count> [<seed>]: does sort.mjs sort that many numbers, and how long does it take?
import { sort } from './sort.mjs'

const [count, seed = 1] = process.argv.slice(2).map(Number)
let last = seed
const numbers = Array.from({ length: count }, () => (last = (Math.imul(last, 1664525) + 1013904223) >>> 0))
const expected = Uint32Array.from(numbers).sort()
const given = Uint32Array.from(numbers)

console.log(\`sorting \${count} numbers\`)
const startedAt = performance.now()
const sorted = sort(numbers)
const ms = Math.round(performance.now() - startedAt)

const wrong = sorted.length === count ? expected.findIndex((value, i) => sorted[i] !== value) : 0
if (wrong !== -1) throw new Error(\`wrong at index \${wrong}: expected \${expected[wrong]}, got \${sorted[wrong]}\`)
if (numbers.some((value, i) => value !== given[i])) throw new Error('it changed the numbers it was given')
console.log(\`sorted in \${ms} ms\`)
`
