import { join } from 'node:path'
import { ended, oneCase, testProject } from './runnerProcess.ts'
import { assert, describe } from './suite.ts'

const uvu = join(import.meta.dirname, '..', '..', 'node_modules', '.bin', 'uvu')
const starts: readonly (readonly [by: string, args: readonly string[]])[] = [
  ['uvu', [uvu, '.', 'one.test.ts$', '--no-color']],
  ['Node', ['one.test.ts']],
]
const slow = { timeoutMs: 20_000 }

/** Test files whose defects uvu alone takes for a pass, or does not notice. */
const defects: Readonly<Record<string, string>> = {
  'a failed assertion': oneCase('assert.is(1, 2)'),
  'a thrown undefined': oneCase('throw undefined'),
  'a cleanup that throws': oneCase('cleanup(() => { throw undefined })'),
  'a missed deadline': `describe('s', (it) => { it('a', { timeoutMs: 5 }, () => new Promise(() => {})) })`,
  'a group without a case': `describe('s', () => {})`,
  'a group registered while cases run': `describe('s', (it) => { it('a', () => describe('t', (it) => it('b', () => {}))) })`,
}

for (const [by, args] of starts)
  describe(`a test file started by ${by} alone`, (it) => {
    it('runs its cases in the suites of uvu, in order', slow, async (context) => {
      const said = `describe('s', (it) => { it('a', () => console.log('first')); it('b', () => console.log('second')); it.skip('c') })
        describe('t', (it) => { it('a', () => console.log('third')) })`
      const { code, output } = await ended(context, await testProject(context, { 'one.test.ts': said }), args)
      assert.match(output, /first[^]*second[^]*\(2 \/ 2\)[^]*third[^]*\(1 \/ 1\)/)
      assert.match(output, /Total: +3\s+Passed: +3\s+Skipped: +1/)
      assert.is(code, 0)
    })

    for (const [what, text] of Object.entries(defects))
      it(`fails for ${what}`, slow, async (context) => {
        const { code, output } = await ended(context, await testProject(context, { 'one.test.ts': text }), args)
        assert.match(output, 'FAIL')
        assert.is(code, 1, output)
      })
  })
