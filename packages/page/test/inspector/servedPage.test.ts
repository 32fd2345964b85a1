import { mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { projectFolder } from '../../../cli/test/cliChild.ts'
import { assert, describe } from '../../../../test/support/suite.ts'
import { putInPlace } from './servedPage.ts'

describe('putting a built page in place', (it) => {
  it('leaves alone what is there, as others may be reading it, and adds what is not', async (context) => {
    const folder = projectFolder(context, {
      'built/index-a1.js': 'one',
      'built/index-b2.js': 'two',
      'built/worker.js': 'new',
    })
    const [built, served] = [join(folder, 'built'), join(folder, 'served')]
    mkdirSync(served)
    writeFileSync(join(served, 'index-a1.js'), 'one')
    writeFileSync(join(served, 'worker.js'), 'old')
    const { ino } = statSync(join(served, 'index-a1.js'))
    await putInPlace(built, served)
    assert.is(statSync(join(served, 'index-a1.js')).ino, ino)
    assert.equal(readdirSync(served).toSorted(), ['index-a1.js', 'index-b2.js', 'worker.js'])
    assert.is(readFileSync(join(served, 'worker.js'), 'utf8'), 'new')
    assert.is(readFileSync(join(served, 'index-b2.js'), 'utf8'), 'two')
  })
})
