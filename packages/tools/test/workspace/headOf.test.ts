import * as fc from 'fast-check'
import { headOf } from '../../src/workspace/headOf.ts'
import { assert, describe } from '../../../../test/support/suite.ts'

const head = (text: string, maxChars: number): string => headOf(text, 'AGENTS.md', maxChars)

describe('the head of a long Markdown file', (it) => {
  it('ends with a line, and lists the headings of the rest', () => {
    const rest = [
      'text '.repeat(100),
      '## B',
      '```sh',
      '# no heading',
      '```',
      '~~~',
      '# nor this',
      '~~~',
      '#hash',
      '### C ###',
    ]
    assert.is(
      head(['# A', 'one', 'two', ...rest].join('\n'), 8),
      '# A\none\n\n[These are the first 2 of 13 lines. When your work touches the rest, read it first: ' +
        'read_file with {"path":"AGENTS.md","offset":3}. By line:\n5: ## B\n13: ### C ###]',
    )
  })

  it('is the file where that is short, or would not become shorter', () => {
    for (const text of ['', 'short', '# A\n\nb', 'x'.repeat(120)]) assert.is(head(text, 100), text)
  })

  it('is bounded, whatever the file', () => {
    const line = fc.oneof(fc.string(), fc.constantFrom('# a', '```', '~~~~', '', `# ${'x'.repeat(500)}`))
    fc.assert(
      fc.property(fc.array(line, { maxLength: 300 }), fc.integer({ min: 10, max: 400 }), (lines, maxChars) => {
        const text = lines.join('\n')
        const shown = head(text, maxChars)
        assert.ok(shown.length <= Math.max(maxChars, Math.min(text.length, maxChars + 7_000)))
      }),
      { seed: 36 },
    )
  })
})
