// Apart from the schema, which browsers do without; `artifacts.ts` has them too.

/** Name by which models refer to an artifact. It looks like other names, so an index of names includes it. */
export const artifactName = ({ id }: { readonly id: string }): string => `artifact_${id.slice(0, 12)}`

export const artifactNames = (text: string): string[] => text.match(/\bartifact_[0-9a-f]{12}\b/g) ?? []
