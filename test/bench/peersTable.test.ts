import { assert, describe } from '../support/suite.ts'
import type { CellResult } from '../../tools/bench/peers/cell.ts'
import { readRunOptions } from '../../tools/bench/peers/options.ts'
import {
  format,
  lineOf,
  markdownTable,
  medianOf,
  ratioOf,
  spreadText,
  textTable,
} from '../../tools/bench/peers/table.ts'

const cell = (contender: string, cpu: number | null): CellResult => ({
  contender,
  workload: 'turn',
  warmUp: 'short',
  figures: { cpu },
})
const row = { figure: 'cpu', title: 'turn', unit: 'µs/turn' }
const labels = { floor: 'floor', pi: 'pi 1', escapement: 'escapement 2' }

describe('the table of tools/bench/peers', (it) => {
  it('has the median of the rounds and how far they lie apart', () => {
    assert.is(medianOf([3, 1, 2]), 2)
    assert.is(medianOf([4, 1, 2, 3]), 2.5)
    const line = lineOf([cell('pi', 10), cell('pi', 30), cell('pi', 20), cell('floor', 4)], 'turn', 'cpu')
    assert.equal(line, { pi: { median: 20, spread: 1 }, floor: { median: 4, spread: 0 } })
    assert.equal(lineOf([cell('pi', 10)], 'delta', 'cpu'), {})
  })

  it('says never of what did not end in half of the rounds, and has no ratio to it', () => {
    const line = lineOf([cell('pi', null), cell('pi', 3), cell('escapement', 6)], 'turn', 'cpu')
    assert.equal(line['pi'], { median: null, spread: 0 })
    assert.is(ratioOf(line, 'escapement', 'pi'), undefined)
    assert.is(ratioOf(line, 'escapement', 'floor'), undefined)
    assert.is(ratioOf(line, 'escapement', 'escapement'), 1)
    assert.match(markdownTable([{ row, line }], labels), /\| turn, µs\/turn \| – \| never \| 6 \| – \| – \|/)
  })

  it('is printed for a terminal and for a page', () => {
    const line = lineOf([cell('floor', 2), cell('pi', 10), cell('escapement', 15)], 'turn', 'cpu')
    const text = textTable(row, line, labels).split('\n')
    assert.is(text.length, 5)
    assert.match(text[4]!, /^ {2}escapement 2 +15 +1\.5 +7\.5 +0 %$/)
    assert.equal(markdownTable([{ row, line }], labels).split('\n'), [
      '|  | floor | pi 1 | escapement 2 | ÷ pi | ÷ floor |',
      '| --- | ---: | ---: | ---: | ---: | ---: |',
      '| turn, µs/turn | 2 | 10 | 15 | 1.5 | 7.5 |',
    ])
    assert.match(spreadText([{ row, line }]), /0 % in half of the cells, 0 % in nine of ten/)
  })

  it('has three digits that count', () => {
    assert.equal([0.684, 1.7, 12.34, 123.4, 12_345.6].map(format), ['0.68', '1.7', '12.3', '123', '12,346'])
  })
})

describe('the arguments of tools/bench/peers', (it) => {
  it('choose workloads by name or its beginning, and contenders in the order of the table', () => {
    const names = (only: string): string[] => readRunOptions(['--only', only]).workloads.map(({ name }) => name)
    assert.equal(names('turn'), ['turn10', 'turn100', 'turn1000'])
    assert.equal(names('delta, turn100'), ['turn100', 'delta'])
    assert.equal(readRunOptions(['--contenders', 'escapement,floor']).contenders, ['floor', 'escapement'])
    assert.is(readRunOptions([]).contenders.length, 7)
    assert.equal(readRunOptions(['--warmup', 'both']).warmUps, ['short', 'long'])
    assert.is(readRunOptions([]).rounds, 5)
  })

  it('are refused when they name what is not there', () => {
    assert.throws(() => readRunOptions(['--only', 'turns']), /There is no workload "turns"; there are turn10, /)
    assert.throws(() => readRunOptions(['--contenders', 'py']), /There is no contender "py"; there are floor, /)
    assert.throws(() => readRunOptions(['--rounds', '0']), /--rounds is a whole number from 1, not "0"/)
    assert.throws(() => readRunOptions(['--warmup', 'hot']), /--warmup is short, long or both, not "hot"/)
    assert.throws(() => readRunOptions(['--round', '3']), /--round/)
  })
})
