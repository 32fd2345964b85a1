import { FileQueue, type QueuedFile } from './fileQueue.ts'
import { provide, type Provision } from './setUp.ts'
import { assert, describe, type CaseContext } from './suite.ts'

const missing: Provision = {
  name: 'A clock',
  door: 'test/clock.ts',
  isThere: () => false,
  way: () => 'by a clockmaker',
  install: async () => {},
  advice: 'buy one',
}

/** Provides it with `CI` as given; what was printed, and whether that was all when the caller went on. */
async function provided({ cleanup }: CaseContext, provision: Provision, users: number, ci = ''): Promise<string[]> {
  const before = process.env['CI']
  cleanup(() => (before === undefined ? delete process.env['CI'] : (process.env['CI'] = before)))
  process.env['CI'] = ci
  const lines: string[] = []
  await provide(provision, users, (line) => lines.push(line))
  return lines
}

const fails = async (): Promise<void> => {
  throw new Error('apt-get failed:\nE: Unable to fetch some archives')
}

describe('what the tests need', (it) => {
  it('is installed after a line that says so', async (context) => {
    const lines: string[] = []
    const installed = provide({ ...missing, install: async () => void lines.push('(installing)') }, 3, (line) =>
      lines.push(line),
    )
    await installed
    assert.equal(lines, [
      'A clock is missing, which 3 test files need: installing it by a clockmaker, while others run.',
      '(installing)',
      'A clock is installed.',
    ])
    assert.equal(await provided(context, { ...missing, isThere: () => true, install: fails }, 3), [])
    assert.equal(await provided(context, { ...missing, install: fails }, 0), [])
  })

  it('is skipped with a line where it cannot be installed, or that fails, as without a network', async (context) => {
    assert.equal(await provided(context, { ...missing, way: () => undefined }, 1), [
      'A clock is missing, which 1 test file needs: its tests are skipped. To have them, buy one.',
    ])
    const [, failed] = await provided(context, { ...missing, install: fails }, 1)
    assert.is(
      failed,
      'A clock could not be installed by a clockmaker (E: Unable to fetch some archives): its tests are skipped. To have them, buy one.',
    )
  })

  it('is a failure where CI is set', async (context) => {
    const [line] = await provided(context, { ...missing, way: () => undefined }, 1, 'true')
    assert.match(line!, 'its tests fail, as CI is set')
  })
})

describe('the queue of files', (it) => {
  const entry = (file: string, home?: number, held?: Promise<void>): QueuedFile => ({ file, isPage: false, home, held })
  const named = async (queue: FileQueue, worker: number): Promise<string | undefined> =>
    (await queue.take(worker))?.file

  it('gives a worker the files that are at home with it, then those of nobody, and then what is left', async () => {
    const queue = new FileQueue([entry('a'), entry('b', 0), entry('c', 0), entry('d', 1), entry('e')])
    const given: (string | undefined)[] = []
    for (const worker of [0, 1, 1, 1, 1, 0]) given.push(await named(queue, worker))
    assert.equal(given, ['b', 'd', 'a', 'e', 'c', undefined])
  })

  it('holds a file back until what it needs is there, and gives the others meanwhile', async () => {
    const held = Promise.withResolvers<void>()
    const queue = new FileQueue([entry('late', undefined, held.promise), entry('a')])
    assert.is(await named(queue, 0), 'a')
    const next = named(queue, 0)
    held.resolve()
    assert.is(await next, 'late')
    assert.is(await named(queue, 0), undefined)
  })
})
