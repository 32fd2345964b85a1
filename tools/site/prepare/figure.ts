/** A picture of ours as part of a page. Pure. */
export function figure(svg: string, { alt, name }: { readonly alt: string; readonly name: string }): string {
  const inPage = scoped(svg, name)
    .replace(/ style="max-width:100%;height:auto"/, '')
    .replaceAll(/\n\s*/g, '\n')
    .trim()
  return `<figure class="picture-frame" data-pagefind-ignore><div class="picture-scroll" tabindex="0" role="group" aria-label="${escapeAttribute(alt)}">\n${inPage}\n</div></figure>`
}

const escapeAttribute = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('"', '&quot;')

/** With ids and styles of its own, since a page may have several, and by the scheme of the page in place of the system's. */
function scoped(svg: string, name: string): string {
  const id = `picture-${name}`
  return svg
    .replace('<svg ', `<svg id="${id}" `)
    .replaceAll(/ id="(title|desc)"/g, ` id="${id}-$1"`)
    .replace(/aria-labelledby="([^"]*)"/, (_, ids: string) => `aria-labelledby="${ids.replaceAll(/\w+/g, `${id}-$&`)}"`)
    .replace(/<style>([\s\S]*?)<\/style>/, (_, css: string) => `<style>${scopedStyle(css, `#${id}`)}</style>`)
}

function scopedStyle(css: string, scope: string): string {
  const dark = /@media \(prefers-color-scheme: dark\) \{ \.picture (\{[^}]*\}) \}/.exec(css)
  if (dark === null) throw new Error(`The picture ${scope} has no colours for a dark scheme.`)
  const own = css.replace(dark[0], '').replace('.picture {', `& {`)
  return `${scope} {${own}\n} [data-theme='dark'] ${scope} ${dark[1]!}`
}
