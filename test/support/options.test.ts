import { ofShard } from './chooseFiles.ts'
import { readOptions } from './options.ts'
import { progress } from './progress.ts'
import { shuffled } from './shuffled.ts'
import { assert, describe } from './suite.ts'
import { filtered } from './testFiles.ts'

describe('the options of a run', (it) => {
  it('choose the files of npm test, those that it leaves out, or all', () => {
    const tierOf = (...args: string[]): unknown => {
      const { tier, allSeeds, nightly } = readOptions(args)
      return [tier, allSeeds, nightly]
    }
    assert.equal(tierOf(), ['quick', false, false])
    assert.equal(tierOf('--rest'), ['rest', false, false])
    assert.equal(tierOf('--full'), ['all', true, false])
    assert.equal(tierOf('--nightly'), ['all', true, true])
  })

  it('have a seed that may be left out, also before a part of a path', () => {
    assert.is(readOptions([]).shuffle, undefined)
    assert.is(readOptions(['--shuffle', '12', 'tree']).shuffle, 12)
    assert.is(readOptions(['--shuffle=12']).shuffle, 12)
    const { shuffle, filters } = readOptions(['--shuffle', 'tree'])
    assert.ok(Number.isInteger(shuffle))
    assert.equal(filters, ['tree'])
    assert.ok(Number.isInteger(readOptions(['--nightly']).shuffle))
  })

  const refused: readonly (readonly [args: readonly string[], says: RegExp])[] = [
    [['--what'], /Unknown option '--what'/],
    [['--jobs', '0'], /--jobs is "0": give a whole number from 1\./],
    [['--jobs', '1.5'], /--jobs is "1\.5"/],
    [['--shard', '3/2'], /--shard is "3\/2": give the number of the part and of all parts, such as 1\/4\./],
    [['--shard', '0/2'], /--shard is "0\/2"/],
    [['--shard', 'a'], /--shard is "a"/],
    [['--shuffle=x'], /--shuffle is "x": give a whole number from 0\./],
    [['--rest', '--nightly'], /give one of them/],
    [['--quick', '--rest'], /give one of them/],
  ]
  for (const [args, says] of refused)
    it(`are refused with what is wrong: ${args.join(' ')}`, () => {
      assert.throws(() => readOptions(args), says)
      assert.throws(() => readOptions(args), /\nUsage: npm test/)
    })
})

describe('the files of a run', (it) => {
  const files = ['test/a/one.test.ts', 'test/a/twoParts.full.test.ts', 'test/b/three.test.ts']

  it('are those that a part of a path names, and a part that names none is refused with what resembles it', () => {
    assert.equal(filtered(files, ['a/', 'three']), files)
    assert.equal(filtered(files, ['two']), [files[1]])
    assert.throws(
      () => filtered(files, ['twoparts.test']),
      /"twoparts\.test" in its path\. Some that resemble it: test\/a\/twoParts\.full\.test\.ts\.$/,
    )
    assert.throws(() => filtered(files, ['nonsense']), /"nonsense" in its path\.$/)
  })

  it('are in one part each, of as many as there are', () => {
    const parts = [1, 2, 3, 4].map((index) => ofShard(files, { shard: { index, count: 4 } }))
    assert.equal(parts.flat().toSorted(), files)
    assert.equal(
      parts.map(({ length }) => length),
      [1, 1, 1, 0],
    )
  })

  it('are shuffled by a seed: the same each time, and none is lost', () => {
    const many = Array.from({ length: 100 }, (_, at) => at)
    assert.equal(shuffled(many, 5), shuffled(many, 5))
    assert.not.equal(shuffled(many, 5), shuffled(many, 6))
    assert.equal(
      shuffled(many, 5).toSorted((a, b) => a - b),
      many,
    )
    assert.not.equal(shuffled(many, 5), many)
    assert.equal(shuffled([], 5), [])
  })
})

describe('how far a run is', (it) => {
  it('is told by what the files took before, and by how that compares with today', () => {
    let now = 0
    const far = progress(['a', 'b', 'c'], { a: 1_000, b: 2_000, c: 60_000 }, () => now)
    now = 2_000
    assert.is(far.next('a'), '1 of 3')
    now = 6_000
    assert.is(far.next('b'), '2 of 3, 2:00 left')
    assert.is(far.next('c'), '3 of 3')
  })
})
