import { join } from 'node:path'
import { cachedPackages } from '../support/cachedPackages.ts'

/** Astro, Starlight and TypeDoc. */
export const sitePackages = cachedPackages({
  name: 'What builds the documentation site',
  door: 'test/site/builtSite.ts',
  here: join(import.meta.dirname, '..', '..', 'tools', 'site'),
  cache: 'escapement-site',
})
