import { readFile } from 'node:fs/promises'
import { errorCodes, errorTable } from '../../src/protocol/errors.ts'
import { assert, describe } from '../support/suite.ts'

const page = await readFile(new URL('../../docs/errors.md', import.meta.url), 'utf8')
const sections = page.split(/^## /m).slice(1)

describe('the errors page', (it) => {
  it('has one section for each code of the table, in its order', () => {
    assert.equal(
      sections.map((section) => section.slice(0, section.indexOf('\n'))),
      [...errorCodes],
    )
  })

  it('says more than the code in every section', () => {
    for (const section of sections) assert.ok(section.split('\n').slice(1).join(' ').trim().length > 20, section)
  })
})

describe('the errors table', (it) => {
  it('advises in whole sentences', () => {
    for (const [code, advice] of Object.entries(errorTable)) assert.match(advice, /^[A-Z].*\.$/, code)
  })
})
