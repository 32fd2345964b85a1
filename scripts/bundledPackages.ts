import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Plugin } from 'vite'

/** A package of others whose code is in a bundle. */
export interface BundledPackage {
  readonly name: string
  readonly version: string
  /** Licence by its package.json, such as `MIT`. */
  readonly license: string
  /** Address of its source. */
  readonly source: string
  /** Texts of its licence and notice files. */
  readonly texts: readonly string[]
}

/** Sees builds of Vite, and knows afterwards whose code went into them. */
export interface BundledPackages {
  readonly plugin: Plugin
  /** Returns the packages, sorted by name. */
  all(): readonly BundledPackage[]
}

/** `…/node_modules/@scope/name` of a file in it. */
const folderOf = (moduleId: string): string | undefined =>
  /^.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+/.exec(moduleId.replace(/^\0/, '').replace(/\?.*$/, ''))?.[0]

/** Code that a bundler adds of its own has a name instead of a path: `\0rolldown/runtime.js`. */
const ownCodeOf = (moduleId: string): string | undefined => /^\0(vite|rolldown)\//.exec(moduleId)?.[1]

/** Collects the packages that builds put into their chunks: what was imported and then left out is not among them. */
export function bundledPackages(modulesFolder = join(import.meta.dirname, '..', 'node_modules')): BundledPackages {
  const folders = new Set<string>()
  return {
    plugin: {
      name: 'bundled-packages',
      generateBundle(_options, bundle) {
        for (const chunk of Object.values(bundle)) {
          if (chunk.type !== 'chunk') continue
          for (const [id, { renderedLength }] of Object.entries(chunk.modules)) {
            const own = ownCodeOf(id)
            const folder = own === undefined ? folderOf(id) : join(modulesFolder, own)
            if (renderedLength > 0 && folder !== undefined) folders.add(folder)
          }
        }
      },
    },
    all: () => [...folders].map(readPackage).toSorted((a, b) => (a.name < b.name ? -1 : 1)),
  }
}

interface Manifest {
  readonly name: string
  readonly version: string
  readonly license?: string
  readonly homepage?: string
  readonly repository?: string | { readonly url: string }
  readonly author?: string | { readonly name: string }
}

function readPackage(folder: string): BundledPackage {
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest
  const { name, version, license, homepage, repository } = manifest
  if (license === undefined) throw new Error(`${name} has no licence in its package.json.`)
  const files = readdirSync(folder).filter((file) => /^(?:licen[cs]e|notice|copying)/i.test(file))
  if (files.length === 0 && (license !== 'MIT' || manifest.author === undefined))
    throw new Error(`${name} has no file with the text of its licence (${license}).`)
  const address = (typeof repository === 'string' ? repository : repository?.url) ?? homepage
  if (address === undefined) throw new Error(`${name} does not say where its source is.`)
  const texts =
    files.length === 0
      ? [mitOf(manifest)]
      : files.toSorted().map((file) => ownPart(readFileSync(join(folder, file), 'utf8')))
  return { name, version, license, source: webAddress(address), texts }
}

/** The licence that a package names without its text, by whom the package says it is. */
function mitOf({ author }: Manifest): string {
  const holder = typeof author === 'string' ? author : author?.name
  return `(The package has no file with its licence. This is the text of the one that it names.)

MIT License

Copyright (c) ${holder}

Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation files (the "Software"), to deal
in the Software without restriction, including without limitation the rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell
copies of the Software, and to permit persons to whom the Software is furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY,
FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER
LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN
THE SOFTWARE.`
}

/**
 * The part of a licence file that is about its package. A bundler names there also those whose code is in the bundler; only helpers of its own come along,
 * which have nothing of theirs.
 */
const ownPart = (text: string): string =>
  text
    .replaceAll('\r\n', '\n')
    .replace(/^# Licenses of bundled dependencies$.*/ms, '')
    .trim()

/** `git+https://github.com/a/b.git`, `github:a/b` and `a/b` as an address for people. */
const webAddress = (repository: string): string =>
  repository
    .replace(/^git\+/, '')
    .replace(/^git:|^ssh:\/\/git@/, 'https:')
    .replace(/\.git$/, '')
    .replace(/^(?:github:)?([\w.-]+\/[\w.-]+)$/, 'https://github.com/$1')
