import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { assert, describe } from '../support/suite.ts'
import { findChromium } from './findChromium.ts'
import { canInstallChromium } from './installChromium.ts'

describe('where Chromium is', (it) => {
  it('is what CHROMIUM names, and nothing else then', async ({ cleanup }) => {
    const dir = await mkdtemp(join(tmpdir(), 'escapement-chromium-'))
    cleanup(() => rm(dir, { recursive: true }))
    const named = join(dir, 'mine')
    await writeFile(named, '')
    assert.is(findChromium({ CHROMIUM: named }), undefined)
    await chmod(named, 0o755)
    assert.is(findChromium({ CHROMIUM: named }), named)
    assert.is(findChromium({ CHROMIUM: join(dir, 'missing') }), undefined)
    assert.not.ok(canInstallChromium({ CHROMIUM: named }))
  })
})
