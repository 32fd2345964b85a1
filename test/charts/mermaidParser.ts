interface Purifier {
  sanitize?: (text: string) => string
  addHook?: () => void
}

/** Throws what Mermaid's own parser does not accept. */
export async function parseMermaid(text: string): Promise<string> {
  // Mermaid cleans labels by a package that needs a page; what is asked here is only whether it can read them.
  const name = 'dompurify'
  const { default: purifier } = (await import(name)) as { default: Purifier }
  purifier.sanitize ??= (dirty) => dirty
  purifier.addHook ??= () => {}
  const { default: mermaid } = await import('mermaid')
  return (await mermaid.parse(text)).diagramType
}
