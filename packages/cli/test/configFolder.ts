import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { CaseContext } from '../../../test/support/suite.ts'

export const index = pathToFileURL(join(import.meta.dirname, '..', '..', '..', 'src', 'index.ts')).href

/** The text of a configuration, whose imports are on one line. */
export const configText = (body: string): string =>
  `import { defineAgent, defineConfig, policyModel, workspaceTools } from '${index}'\n${body}`

/** A folder with these files, removed after the case. */
export function configFolder(
  { cleanup }: Pick<CaseContext, 'cleanup'>,
  files: { readonly [path: string]: string } = {},
): string {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'escapement-config-')))
  cleanup(() => rmSync(dir, { recursive: true, force: true }))
  for (const [path, text] of Object.entries({ 'package.json': '{ "type": "module" }', ...files })) {
    mkdirSync(dirname(join(dir, path)), { recursive: true })
    writeFileSync(join(dir, path), text)
  }
  return dir
}
