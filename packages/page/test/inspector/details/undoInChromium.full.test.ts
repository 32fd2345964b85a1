import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { defineAgent } from '../../../../../src/actors/define/defineAgent.ts'
import { policyModel } from '../../../../models/src/policyModel.ts'
import { workspaceTools } from '../../../../tools/src/workspace/workspaceTools.ts'
import { checkProblems, describeInChromium } from '../../../../../test/browser/chromium.ts'
import { assert } from '../../../../../test/support/suite.ts'
import { axeViolations } from '../axe.ts'
import { inTime, openInspector, serveInspector, until } from '../inspectorHarness.ts'

describeInChromium('a person who takes work back on the inspector page', (it) => {
  it('has its files undone, reads what was, and brings a step back', { timeoutMs: 40_000 }, async (context) => {
    const folder = mkdtempSync(join(tmpdir(), 'undone-'))
    const file = join(folder, 'prices.txt')
    writeFileSync(file, 'apple 1\n')
    const writer = defineAgent({
      name: 'writer',
      model: policyModel(({ messages }) =>
        messages.at(-1)?.role === 'toolResult'
          ? 'It is written.'
          : { toolCalls: [{ name: 'write_file', input: { path: 'prices.txt', content: 'pear 2\n' } }] },
      ),
      tools: workspaceTools(folder, { snapshots: true }),
      braking: { revert: true },
    })
    const { server, runtime } = await serveInspector(context, [writer])
    const agent = await runtime.spawn(writer, { id: 'w1' })
    await agent.prompt('write').result
    assert.is(readFileSync(file, 'utf8'), 'pear 2\n')
    const inspector = await openInspector(context, server.port, { hash: '#agent=w1&node=1' })
    const { page } = inspector
    await inspector.isIn('idle')
    await inspector.button('Revert to n1').click()
    const dialog = page.getByRole('dialog')
    // What goes, and what stays as it is, is said before.
    await inspector.sees('write_file path: "prices.txt"', dialog.getByRole('list', { name: 'Removed steps' }))
    await inspector.sees(/prices\.txt/, dialog.getByRole('list', { name: 'Stays unless you undo it' }))
    await dialog.getByRole('checkbox', { name: /^Undo the effects of its calls/ }).check()
    await inspector.sees(/The note tells the model what was undone/, dialog)
    await inspector.sees(/prices\.txt/, dialog.getByRole('list', { name: 'Will be undone' }))
    assert.equal(await axeViolations(page), [])
    await dialog.getByRole('button', { name: 'Abandon 3 messages', exact: true }).click()
    await dialog.waitFor({ state: 'detached' })
    // The page says what is being undone before it is.
    const undoing = async (): Promise<void> => {
      while (readFileSync(file, 'utf8') !== 'apple 1\n') await page.waitForTimeout(20)
    }
    await inTime('the file is as it was', undoing())
    await until(page, `document.body.innerText.includes('undone')`)
    await inspector.goto('#agent=w1&node=2')
    await inspector.button('Bring back n2').click()
    await until(page, `document.body.innerText.includes('n5')`)
    assert.equal(
      agent.conversation.trunk().map(({ copiedFrom }) => copiedFrom),
      [undefined, 2, 3],
    )
    // A copy of a call does nothing again.
    assert.is(readFileSync(file, 'utf8'), 'apple 1\n')
    assert.equal(await axeViolations(page), [])
    checkProblems(context)
  })
})
