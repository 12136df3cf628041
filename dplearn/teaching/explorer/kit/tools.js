// Menu buttons that switch the language and copy the address.
export default function ({ data: [{ code, name, link, copied }], parentElement, setTriggerValue }) {
  const [other, copy] = parentElement.querySelectorAll("button");
  other.textContent = name;
  copy.textContent = link;
  other.onclick = () => setTriggerValue("language", code);
  copy.onclick = async () => {
    try {
      await navigator.clipboard.writeText(location.href);
      copy.textContent = copied;
      setTimeout(() => (copy.textContent = link), 1500);
    } catch {
      prompt("", location.href);
    }
  };
}
