import { mkdirSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'

let folder: string | undefined

/**
 * Where a run keeps pictures of the page: the folder named by `CONSOLE_PICTURES`, or a new temporary one, which is printed. Both outlive
 * the run.
 */
function pictureFolder(): string {
  if (folder !== undefined) return folder
  const named = process.env['CONSOLE_PICTURES']
  folder = named ?? mkdtempSync(join(tmpdir(), 'escapement-console-'))
  mkdirSync(folder, { recursive: true })
  console.log(`pictures of the console are in ${folder}`)
  return folder
}

/** Keeps a picture of what a page shows. */
export async function picture(page: Page, name: string): Promise<void> {
  await page.screenshot({ path: join(pictureFolder(), `${name.replaceAll(/\W+/g, '-').toLowerCase()}.png`) })
}
