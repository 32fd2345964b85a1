const manifest = '{ "type": "module", "scripts": { "test": "node --test" } }\n'

const test = (imported: string, file: string, body: string): string =>
  `import assert from 'node:assert/strict'\nimport { test } from 'node:test'\nimport { ${imported} } from '${file}'\n\n${body}\n`

/** A project with a fault, and what a repaired file holds. */
export interface FaultyProject {
  readonly files: Readonly<Record<string, string>>
  readonly path: string
  readonly repaired: RegExp
}

export const faultyProjects: Readonly<Record<string, FaultyProject>> = {
  'a missing return': {
    path: 'src/total.js',
    repaired: /return sum/,
    files: {
      'package.json': manifest,
      'src/total.js': `export function total(items) {\n  let sum = 0\n  for (const item of items) sum += item.price\n  sum\n}\n`,
      'test/total.test.js': test(
        'total',
        '../src/total.js',
        `test('adds up', () => assert.equal(total([{ price: 1 }, { price: 2 }]), 3))`,
      ),
    },
  },
  'a wrong text': {
    path: 'greet.js',
    repaired: /`Hello, \$\{name\}!`/,
    files: {
      'package.json': manifest,
      'greet.js': 'export const greet = (name) => `Hello ${name}!`\n',
      'greet.test.js': test('greet', './greet.js', `test('greets', () => assert.equal(greet('Ada'), 'Hello, Ada!'))`),
    },
  },
  'a loop that starts too late, in a plain script': {
    path: 'average.js',
    repaired: /let i = 0/,
    files: {
      'package.json': '{ "type": "module", "scripts": { "test": "node check.js" } }\n',
      'average.js': `export function average(list) {\n  let sum = 0\n  for (let i = 1; i < list.length; i++) sum += list[i]\n  return sum / list.length\n}\n`,
      'check.js': `import assert from 'node:assert/strict'\nimport { average } from './average.js'\n\nassert.equal(average([2, 4]), 3)\n`,
    },
  },
  'a swapped method in TypeScript': {
    path: 'src/queue.ts',
    repaired: /unshift\(item\)|items\.shift\(\)/,
    files: {
      'package.json': manifest,
      'src/queue.ts': `export class Queue<T> {\n  #items: T[] = []\n  add(item: T): void {\n    this.#items.push(item)\n  }\n  size(): number {\n    return this.#items.length\n  }\n  take(): T | undefined {\n    return this.#items.pop()\n  }\n}\n`,
      'test/queue.test.ts': test(
        'Queue',
        '../src/queue.ts',
        `test('the first in is the first out', () => {\n  const queue = new Queue<number>()\n  queue.add(1)\n  queue.add(2)\n  assert.equal(queue.take(), 1)\n  assert.equal(queue.take(), 2)\n})`,
      ),
    },
  },
}

/** Two faults: each edit makes one more test pass. */
export const twoFaults: Readonly<Record<string, string>> = {
  'package.json': manifest,
  'add.js': 'export const add = (a, b) => a - b\n',
  'adult.js': 'export const isAdult = (age) => age > 18\n',
  'test/both.test.js': test(
    'add',
    '../add.js',
    `import { isAdult } from '../adult.js'\n\ntest('adds', () => assert.equal(add(2, 3), 5))\ntest('is adult at 18', () => assert.equal(isAdult(18), true))\ntest('is a child at 17', () => assert.equal(isAdult(17), false))`,
  ),
}

/** Texts that no single edit repairs. */
export const beyondRepair: Readonly<Record<string, string>> = {
  'package.json': manifest,
  'roman.js': 'export function roman(number) {\n  return String(number + 0)\n}\n',
  'roman.test.js': test(
    'roman',
    './roman.js',
    `test('writes roman numbers', () => assert.equal(roman(1987), 'MCMLXXXVII'))`,
  ),
}

export const soundProject: Readonly<Record<string, string>> = {
  'package.json': manifest,
  'one.js': 'export const one = () => 1\n',
  'one.test.js': test('one', './one.js', `test('is one', () => assert.equal(one(), 1))`),
}

/** A test that never ends, says its process id in a file, and does not care for SIGTERM. */
export const endlessProject: Readonly<Record<string, string>> = {
  'package.json': '{ "type": "module", "scripts": { "test": "node test.js" } }\n',
  'test.js': `import { writeFileSync } from 'node:fs'\nprocess.on('SIGTERM', () => {})\nsetInterval(() => {}, 1000)\nwriteFileSync('pid', String(process.pid))\n`,
}
