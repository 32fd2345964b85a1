import * as fc from 'fast-check'
import { boundedText } from '../../src/actors/parts/artifacts/boundedText.ts'
import { inSlices } from '../../src/actors/timing/inSlices.ts'
import { defineAgent } from '../../src/actors/define/defineAgent.ts'
import { rowsOf, wrapped } from '../../src/conversation/tree/readExcerpt.ts'
import { Redactor } from '../../packages/redaction/src/redactor.ts'
import { scriptedModel } from '../../packages/evaluation/src/testing/scriptedModel.ts'
import { withCode } from '../support/agentHarness.ts'
import { assert, describe } from '../support/suite.ts'

const model = scriptedModel([])

describe('a bounded text', (it) => {
  it('is the text itself where that fits, else its ends with what is missing', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.string({ unit: 'grapheme', maxLength: 300 }),
        fc.integer({ min: 4, max: 200 }),
        async (text, most) => {
          const { text: kept, lost } = await boundedText(text, most, undefined)
          if (text.length <= most) return assert.equal([kept, lost], [text, 0])
          assert.is(lost, text.length - most)
          const [head, tail] = kept.split(`\n[… ${lost} characters were not kept …]\n`)
          assert.is(head!.length + tail!.length, most)
          assert.ok(kept.isWellFormed())
        },
      ),
    )
  })

  it('has no secret across its pieces, and lets others have their turn', { timeoutMs: 20_000 }, async () => {
    const secret = 's3cr3t-token-0123456789'
    const redactor = new Redactor({ secrets: { A: secret } })
    const text = `${'a'.repeat(256 * 1024 - 10)}${secret}${'b'.repeat(20 * 1024 * 1024)}`
    let turns = 0
    let isOn = true
    const turn = (): void => {
      turns += 1
      if (isOn) setImmediate(turn)
    }
    setImmediate(turn)
    const { text: kept } = await boundedText(text, 1024 * 1024, redactor)
    isOn = false
    assert.not.match(kept, secret)
    assert.not.match(kept, 's3cr3t')
    assert.match(kept, '[redacted:A]')
    assert.ok(turns > 2, `${turns} turns`)
  })
})

describe('long lines', (it) => {
  it('go on on further lines, whole characters each, and nothing is lost', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.constantFrom('x', '😀', 'ä'), fc.integer({ min: 0, max: 5_000 })), { maxLength: 6 }),
        async (lines) => {
          const text = lines.map(([sign, count]) => sign.repeat(count)).join('\n')
          const broken = await inSlices(wrapped(text))
          assert.ok(broken.split('\n').every((line) => line.length <= 2_001 && line.isWellFormed()))
          assert.is(broken.replaceAll('\n', ''), text.replaceAll('\n', ''))
          assert.is(await inSlices(rowsOf(text)), broken.split('\n').length)
        },
      ),
    )
  })
})

describe('artifacts of a definition', (it) => {
  it('add a tool, and nothing where there are none', () => {
    const names = (artifacts?: boolean | object) =>
      defineAgent({ name: 'a', model, ...(artifacts === undefined ? {} : { artifacts }) }).toolSpecs.map(
        ({ name }) => name,
      )
    assert.equal(
      [names(), names(false), names(true), names({ overChars: 5_000 })],
      [[], [], ['read_artifact'], ['read_artifact']],
    )
  })

  for (const [what, artifacts, says = 'artifacts'] of [
    ['too little to see', { overChars: 10 }],
    ['a word that is none', { overChar: 5_000 }, 'artifacts: "overChar" is not known; did you mean "overChars"?'],
    ['no number', { maxBytes: 'much' }],
  ] as const) {
    it(`are refused for ${what}`, () => {
      assert.throws(
        () => defineAgent({ name: 'a', model, artifacts: artifacts as object }),
        withCode('INVALID_DEFINITION', says),
      )
    })
  }
})
