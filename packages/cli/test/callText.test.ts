import { textWidth } from '../../charts/src/textWidth.ts'
import { assert, describe } from '../../../test/support/suite.ts'
import { callText } from '../src/terminal/callText.ts'
import { noColours } from '../src/terminal/colours.ts'

const reason = `Arrived  broken; ${'the customer sent three photographs of it, '.repeat(2)}and ${'x'.repeat(60)}.`

describe('a call that waits for a person', (it) => {
  it('is broken at words where that is possible, and none of it is lost', () => {
    for (const columns of [24, 50, 80, 120]) {
      const { rows } = callText('refund', { order: 'A-17', reason }, { colours: noColours, columns })
      for (const row of rows) assert.ok(textWidth(row) < columns, row)
      const own = rows.filter((row) => / {4}(?:reason:|╎)/.test(row))
      const said = own.map((row) => row.slice(row.startsWith('    ╎ ') ? 6 : 4)).join('')
      assert.is(said, `reason: ${JSON.stringify(reason)}`)
      const torn = own.filter((row, index) => /\w$/.test(row) && /^ {4}╎ \w/.test(own[index + 1] ?? ''))
      assert.ok(
        torn.every((row) => row.endsWith('x')),
        torn.join('\n'),
      )
    }
  })
})
