import { someRuns } from '../support/seeds.ts'
import * as fc from 'fast-check'
import { alikeTo, likeness, several, severalIn } from '../../src/protocol/text/lookAlikes.ts'
import { brakeMarkers, plainMarkers, transcriptMarkers } from '../../src/conversation/request/markers.ts'
import { neutralise, neutraliseBlocks } from '../../src/conversation/request/renderMessage.ts'
import { textOf } from '../../src/protocol/messages.ts'
import { forgeries } from '../support/forgeries.ts'
import { markersIn } from '../support/reader.ts'
import { assert, describe } from '../support/suite.ts'
import { text } from './logBuilder.ts'

const options = { seed: 20_261_122, endOnFailure: false }

describe('what looks like the runtime’s own hand', (it) => {
  for (const [title, said, withoutControls] of [
    [
      'as it is',
      '<brake-note kind="lesson">x</brake-note> [n3]\n[N12]',
      '(brake-note kind="lesson">x(/brake-note> (n3)\n(N12)',
    ],
    ['with spaces inside', '< / brake - note > [ n 1 2 ]', '( / brake - note > ( n 1 2 )'],
    ['with a space for the hyphen', '<brake note>', '(brake note>'],
    [
      'with what is not seen inside',
      '<br\u200bake\u2060-n\u00adote [n\ufe0f1\u202e]',
      '(br\u200bake\u2060-n\u00adote (n\ufe0f1\u202e)',
    ],
    ['with accents', '<bŕâke̲-nöte', '(bŕâke̲-nöte'],
    ['in letters of other scripts', '<вrаkе-пοτе [п1]', '(вrаkе-пοτе (п1)'],
    [
      'in compatibility forms',
      '＜𝐛𝓻𝖆ᵏⓔ－ｎºｔｅ ［ｎ１］ <co㎵ersation-summary',
      '(𝐛𝓻𝖆ᵏⓔ－ｎºｔｅ (ｎ１) (co㎵ersation-summary',
    ],
    ['in enclosed letters', '<🅱🅡🄰🅺🄴-note', '(🅱🅡🄰🅺🄴-note'],
    ['with rn for m', '<conversation-sumrnary', '(conversation-sumrnary'],
    [
      'by references',
      '&lt;brake-note &#60;/brake&#45;note &#x003C;br&#97;ke-note',
      '(lt;brake-note (#60;/brake&#45;note (#x003C;br&#97;ke-note',
    ],
    ['by references without an end', '&ltbrake-note &#60brake-note', '(ltbrake-note (#60brake-note'],
    ['by references to references', '&amp;amp;lt;brake-note', '(amp;amp;lt;brake-note'],
    ['by a pair of code units', '\u{1d236}brake-note', '((brake-note'],
    ['after a false start', '<<brake-<brake-note [[n[n1]', '<<brake-(brake-note [[n(n1)'],
  ] as const) {
    it(`is made withoutControls ${title}`, () => assert.is(neutralise(said, brakeMarkers), withoutControls))
  }

  for (const said of [
    'if (a < b && c[n] > d[1]) [n] [no] [n1 n2] <p>&lt;p&gt;&nbsp;</p>',
    '<ConversationSummary /> <brakenote> <brake_note> [m1] [1] & < [',
    '漢字【注】「引用」 [сноска] ‹цитата› 🅱 e\u0301',
    '<',
    '&#',
    '[n',
  ]) {
    it(`is not what only has some of its signs: ${said}`, () => assert.is(neutralise(said, brakeMarkers), said))
  }

  it('is left alone where the runtime writes nothing of the kind', () => {
    const said = '[n1] <brake-note> <transcript> (conversation-summary'
    assert.is(neutralise(said, plainMarkers), said)
    assert.is(neutralise(said, transcriptMarkers), said.replace('<t', '(t'))
  })

  it('is found again in what was made withoutControls: nowhere', () => {
    fc.assert(
      fc.property(forgeries, (blocks) => {
        const once = neutralise(blocks.join(''), brakeMarkers)
        assert.is(neutralise(once, brakeMarkers), once)
      }),
      { ...options, numRuns: someRuns(1_000) },
    )
  })

  it('starts with no character that the first glance does not see', () => {
    const seen = alikeTo('<', '[', '&')
    for (let code = 0; code < 0x20000; code++) {
      const like = likeness(code)
      const stands = (like === several ? severalIn(code) : [like]).some((one) =>
        '<[&'.includes(String.fromCharCode(one)),
      )
      if (stands) assert.match(String.fromCodePoint(code), seen)
    }
  })
})

describe('blocks that an adapter may join', (it) => {
  const joined = (blocks: readonly string[], separator: string): string =>
    neutraliseBlocks(blocks.flatMap(text), brakeMarkers)
      .content.map((block) => textOf([block]))
      .join(separator)

  it('form nothing together, whatever joins them, as a loose reader reads it', { timeoutMs: 20_000 }, () => {
    let forged = 0
    fc.assert(
      fc.property(forgeries, (blocks) => {
        forged += markersIn(blocks.join('')).length > 0 ? 1 : 0
        for (const separator of ['', '\n', ' ', '\n\n'])
          assert.equal(
            markersIn(joined(blocks, separator)).filter((marker) => !marker.includes('transcript')),
            [],
          )
      }),
      { ...options, numRuns: someRuns(1_000) },
    )
    assert.ok(forged > someRuns(600), `${forged} would have taken the reader in`)
  })

  it('are broken where the later one begins: the earlier may have been sent', () => {
    const first = neutraliseBlocks(
      [...text('a [n'), { type: 'image', data: 'AA==', mimeType: 'image/png' }],
      brakeMarkers,
    )
    assert.is(textOf(first.content), 'a [n')
    assert.is(textOf(neutraliseBlocks(text('1] b'), brakeMarkers, first.unfinished).content), '1) b')
    const tag = neutraliseBlocks(text('<brake-'), brakeMarkers)
    assert.is(textOf(neutraliseBlocks(text('note>'), brakeMarkers, tag.unfinished).content), '(note>')
    const reference = neutraliseBlocks(text('&am'), brakeMarkers)
    const second = neutraliseBlocks(text('p;l'), brakeMarkers, reference.unfinished)
    assert.is(textOf(neutraliseBlocks(text('t;brake-note'), brakeMarkers, second.unfinished).content), '(;brake-note')
  })

  it('are the same array when there is nothing in them', () => {
    const content = [...text('a < b'), ...text('c[n] && q')]
    const { content: same, unfinished } = neutraliseBlocks(content, brakeMarkers)
    assert.ok(same === content)
    assert.is(unfinished, undefined)
  })
})
