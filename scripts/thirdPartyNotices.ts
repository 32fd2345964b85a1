import type { BundledPackage } from './bundledPackages.ts'

const line = '-'.repeat(80)

/** The text of THIRD-PARTY-NOTICES. Pure. */
export function thirdPartyNotices(packages: readonly BundledPackage[]): string {
  const list = packages.map(({ name, version, license }) => `- ${name} ${version}, ${license}`)
  return `What is in dist holds code of these packages, as they were published, made smaller:

${list.join('\n')}

${packages.map(notice).join('\n')}`
}

const notice = ({ name, version, license, source, texts }: BundledPackage): string => `${line}
${name} ${version}
License: ${license}
Source: ${source}, and https://www.npmjs.com/package/${name}/v/${version}

${texts.join('\n\n')}
`
