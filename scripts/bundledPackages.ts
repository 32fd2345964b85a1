import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Plugin } from 'vite'

/** A package of others whose code is in a bundle. */
export interface BundledPackage {
  readonly name: string
  readonly version: string
  /** As its package.json says: `MIT`. */
  readonly license: string
  /** Where its source is. */
  readonly source: string
  /** Texts of its licence and notice files. */
  readonly texts: readonly string[]
}

/** Sees builds of Vite, and knows afterwards whose code went into them. */
export interface BundledPackages {
  readonly plugin: Plugin
  /** By name. */
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
}

function readPackage(folder: string): BundledPackage {
  const manifest = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest
  const { name, version, license, homepage, repository } = manifest
  if (license === undefined) throw new Error(`${name} has no licence in its package.json.`)
  const files = readdirSync(folder).filter((file) => /^(?:licen[cs]e|notice|copying)/i.test(file))
  if (files.length === 0) throw new Error(`${name} has no file with the text of its licence (${license}).`)
  const address = (typeof repository === 'string' ? repository : repository?.url) ?? homepage
  if (address === undefined) throw new Error(`${name} does not say where its source is.`)
  const texts = files.toSorted().map((file) => ownPart(readFileSync(join(folder, file), 'utf8')))
  return { name, version, license, source: webAddress(address), texts }
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
