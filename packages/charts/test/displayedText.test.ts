import { someRuns } from '../../../test/support/seeds.ts'
import * as fc from 'fast-check'
import { cutEnd, cutMiddle } from '../../../src/protocol/text/cutMiddle.ts'
import { escapeMermaid, escapeXml } from '../src/escapeText.ts'
import { conversationFormats, conversationGraph } from '../src/conversationGraph.ts'
import { argumentsLine, beginning, forDisplay, oneLine } from '../../page/src/inspector/model/words/shortText.ts'
import { withoutControls } from '../src/plainText.ts'
import { shortened } from '../src/plainText.ts'
import { fitted, textWidth } from '../src/textWidth.ts'
import { callLine, outcomeLine } from '../src/toolLine.ts'
import { BrakeLog } from '../../../test/support/brakeLog.ts'
import { assert, describe } from '../../../test/support/suite.ts'

const reordering = /[\u202A-\u202E\u2066-\u2069]/
/** Whole characters of two units, halves of them, what turns the line, marks, joined emoji, and plain letters. */
const piece = fc.constantFrom(
  '😀',
  '𝔘',
  '👩‍💻',
  '🇩🇪',
  '日',
  'e\u0301',
  '\uD83D',
  '\uDE00',
  '\u202E',
  '\u2066',
  '\u2069',
  '\u202A',
  'a',
  'b c',
  '\n',
  '\t',
  '"',
  '<',
)
const text = fc.array(piece, { maxLength: 300 }).map((pieces) => pieces.join(''))
const wholeText = text.map((any) => any.toWellFormed())
const columns = fc.integer({ min: 1, max: 90 })
const runs = { seed: 12, numRuns: someRuns(300) }

/** What stands on a screen: whole characters, in the order they come in. */
function isFit(displayed: string): void {
  assert.ok(displayed.isWellFormed(), JSON.stringify(displayed))
  assert.not.match(displayed, reordering)
}

/** A conversation in which everybody says the same. */
function conversationOf(said: string): BrakeLog {
  const log = new BrakeLog({ policy: { onUserMessage: 'rebase' } })
  log.user(said)
  log.step([{ name: 'read_file', input: { path: said } }])
  log.step([{ output: said }])
  log.revert('n3', said)
  log.step([{ output: said }])
  log.prune({ steps: ['n2'], memo: said })
  log.compact({ recent: 1 })
  log.reply(said)
  return log
}

describe('text on a screen', (it) => {
  it('has whole characters, and none that turn a line, wherever it is cut', () => {
    fc.assert(
      fc.property(text, columns, (any, most) => {
        const [message] = [{ role: 'toolResult', content: [{ type: 'text', text: any }], isError: false } as never]
        for (const displayed of [
          withoutControls(any),
          escapeXml(any),
          escapeMermaid(any),
          forDisplay(any),
          oneLine(any, most),
          argumentsLine({ [any]: any, a: any }, most),
          argumentsLine(any, most),
          callLine(any, { any }),
          callLine('run_command', { command: any }),
          outcomeLine({ name: 'x', message }),
          ...shortened(any, { indent: '  ', columns: most + 3, maxLines: 4 }),
        ])
          isFit(displayed)
      }),
      runs,
    )
  })

  it('is cut between characters where it is told to be', () => {
    fc.assert(
      fc.property(wholeText, columns, (whole, most) => {
        for (const cut of [
          cutEnd(whole, most),
          cutMiddle(whole, most + 100),
          beginning(whole, { lines: 3, chars: most }),
        ])
          assert.ok(cut.isWellFormed(), JSON.stringify(cut))
        assert.ok(cutEnd(whole, most).length <= most)
        assert.ok(oneLine(whole, most).length <= most)
      }),
      runs,
    )
  })

  it('fits into its columns without tearing what belongs together', () => {
    const segmenter = new Intl.Segmenter()
    fc.assert(
      fc.property(text, columns, (any, most) => {
        const line = withoutControls(any).replaceAll('\n', ' ')
        const fit = fitted(line, most)
        isFit(fit)
        assert.ok(textWidth(fit) <= most, JSON.stringify(fit))
        if (fit === line) return
        assert.ok(fit.endsWith('…'))
        const kept = fit.slice(0, -1)
        const ends = [0, ...[...segmenter.segment(line)].map(({ index, segment }) => index + segment.length)]
        assert.ok(line.startsWith(kept) && ends.includes(kept.length), JSON.stringify([line, fit]))
      }),
      runs,
    )
    assert.is(fitted('日本', 3), '日…')
    assert.is(fitted('ab\u001B[2mcd', 3), 'ab\u001B[2m…')
  })

  it('of a conversation is so in every format', { timeoutMs: 20_000 }, () => {
    fc.assert(
      fc.property(text, (any) => {
        const { conversation, records } = conversationOf(`${any}.`)
        for (const format of conversationFormats) {
          const drawn = conversationGraph({ id: 'a', conversation, records }, { format })
          if (typeof drawn === 'string') isFit(drawn)
          else for (const { label } of drawn.steps) isFit(label)
        }
      }),
      { seed: 12, numRuns: someRuns(40) },
    )
  })
})
