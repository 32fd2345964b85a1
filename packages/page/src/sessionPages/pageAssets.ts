import { readFile } from 'node:fs/promises'
import { packageFile } from '../../../charts/src/packageFile.ts'
import { RuntimeError } from '../../../../src/protocol/errors.ts'

/** The files of the page for sessions, as the build made them. */
export interface PageAssets {
  readonly script: string
  readonly style: string
  /** Icon of the page, as an SVG. */
  readonly icon: string
}

/** Reads the files of the page. @throws RuntimeError `FILE_MISSING` */
export async function readPageAssets(from = packageFile('dist/offline/')): Promise<PageAssets> {
  const read = async (name: string): Promise<string> => {
    if (from === undefined) throw missing()
    return await readFile(new URL(name, from), 'utf8').catch(() => {
      throw missing()
    })
  }
  const [script, style, icon] = await Promise.all([read('inspector.js'), read('inspector.css'), read('icon.svg')])
  return { script, style, icon }
}

const missing = (): RuntimeError =>
  new RuntimeError(
    'FILE_MISSING',
    'The page for sessions is made of dist/offline, which is not there: in the repository of escapement run "npm run build:page".',
  )
